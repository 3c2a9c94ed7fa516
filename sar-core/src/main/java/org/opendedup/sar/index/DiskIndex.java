package org.opendedup.sar.index;

import java.io.Closeable;
import java.io.IOException;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;

/**
 * The part of a chunk index that lies on a large disk, behind a part on an SSD: what the SSD has no room for is moved
 * here, and a lookup asks here last (ChunkStash, section 3.4). A fingerprint that the SSD knows may have an entry here
 * as well, which is older and does not count. Safe for use by many threads, except that one moves entries at a time.
 *
 * <p>After a crash it has at least what it had when {@link #settle} returned the last time, and possibly more of the
 * later changes, in their order.
 */
public interface DiskIndex extends Closeable {
    /** Where disk indexes are. Each has the generation of the index that it lies behind as its name. */
    interface Place {
        boolean isThere(long generation) throws IOException;

        /**
         * Opens a disk index, or makes one.
         *
         * @throws org.opendedup.sar.common.CorruptionException if it is damaged
         */
        DiskIndex open(long generation) throws IOException;

        /** Deletes all disk indexes but one. Those must not be open. */
        void deleteOthers(long generation) throws IOException;
    }

    /**
     * Entries of one container.
     *
     * @param slots slot of each entry
     * @param fingerprints that of entry {@code i} begins at {@code i * Fingerprints.BYTES}
     * @param live entries whose fingerprints lead here. Those of the others lead to other copies; they are kept for
     *     {@link #forEachOf} only
     */
    record Entries(int[] slots, byte[] fingerprints, BitSet live) {}

    /** Sets the hints of the chunks that have none, as far as their fingerprints are here. Zero runs have none. */
    void lookup(Segment segment) throws IOException;

    /** Adds entries. A fingerprint of a live one leads to it from then on. Repeating it changes nothing. */
    void add(long container, Entries entries) throws IOException;

    /** The fingerprints of some slots lead nowhere from now on; where they led is kept for {@link #forEachOf}. */
    void forget(byte[] fingerprints, BitSet slots) throws IOException;

    /** As {@link ChunkIndex#remove}. */
    void remove(long container, byte[] fingerprints, BitSet slots) throws IOException;

    /** As {@link ChunkIndex#cover}. */
    void cover(long container, byte[] frameTable) throws IOException;

    /** As {@link ChunkIndex#uncover}. */
    void uncover(long container) throws IOException;

    /** As {@link ChunkIndex#frameTable}. */
    byte @Nullable [] frameTable(long container) throws IOException;

    /** As {@link ChunkIndex#forEachOf}. */
    void forEachOf(long container, ChunkIndex.SlotVisitor visitor) throws IOException;

    /** Visits up to {@code count} live entries in the order of their fingerprints, from one on. */
    void forEachFrom(byte[] fingerprint, int count, ChunkIndex.EntryVisitor visitor) throws IOException;

    /** Returns the number that {@link #settle} was given last; 0 if it was not called yet. */
    long moves() throws IOException;

    /**
     * Makes all changes durable.
     *
     * @param moves number of moves to here, this one included
     */
    void settle(long moves) throws IOException;

    /** What there is, and what was asked since it was opened. */
    DiskIndexUse use();
}
