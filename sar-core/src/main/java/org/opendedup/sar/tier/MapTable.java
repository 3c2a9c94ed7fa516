package org.opendedup.sar.tier;

import java.util.function.Consumer;

/**
 * Where promoted chunks lie on the SSD (SAR paper §3.3), in memory: at most 24 bytes an entry, free places included. Safe for
 * use by many threads.
 */
public final class MapTable {
    public MapTable() {
        throw new UnsupportedOperationException();
    }

    /** Fills {@code into} with a chunk's entry; false if there is none. */
    public boolean get(long chunkId, MapEntry into) {
        throw new UnsupportedOperationException();
    }

    public boolean contains(long chunkId) {
        throw new UnsupportedOperationException();
    }

    /** Adds or replaces an entry; heat, count and saving are taken from it too. Values out of range are cut to the largest. */
    public void put(MapEntry entry) {
        throw new UnsupportedOperationException();
    }

    /** Removes the entry, into {@code removed}; false if there was none. */
    public boolean remove(long chunkId, MapEntry removed) {
        throw new UnsupportedOperationException();
    }

    /** As {@link #remove(long, MapEntry)}, but only if the entry still points to that place. */
    public boolean removeIfAt(long chunkId, int segment, int offset, MapEntry removed) {
        throw new UnsupportedOperationException();
    }

    /** Raises count and saving to these if they were lower, and heat by one. */
    public void noteWanted(long chunkId, int count, int saving) {
        throw new UnsupportedOperationException();
    }

    /** Halves every entry's heat: what was wanted long ago counts less (ageing). */
    public void age() {
        throw new UnsupportedOperationException();
    }

    public int size() {
        throw new UnsupportedOperationException();
    }

    /** Heap bytes, free places included. */
    public long heapBytes() {
        throw new UnsupportedOperationException();
    }

    /** Shows every entry, each stripe at one moment; the entry is valid during the call only. The visitor must not call back. */
    public void forEach(Consumer<MapEntry> visitor) {
        throw new UnsupportedOperationException();
    }
}
