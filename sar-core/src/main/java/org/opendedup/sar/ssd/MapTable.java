package org.opendedup.sar.ssd;

import java.util.function.Consumer;
import org.opendedup.sar.common.ChunkHash;

/**
 * The positions of promoted chunks on the SSD (SAR paper §3.3), in memory: at most 24 bytes an entry, free places
 * included. Safe for use by many threads: it has 64 stripes, each with its own lock and arrays, which grow by a
 * sixteenth, one stripe at a time.
 */
public final class MapTable {
    private static final int STRIPES = 64;

    /**
     * Notified of every added or removed entry, whichever thread changes it. Called with the stripe locked: must
     * neither call back nor wait.
     */
    interface Listener {
        /** Notes that an entry now points to this many bytes of a segment. */
        void onAdded(int segment, int lengthBytes);

        /** Notes that an entry that pointed to this many bytes of a segment was removed or points elsewhere. */
        void onRemoved(int segment, int lengthBytes);

        /** Notes that the chunk has no entry any more. Follows {@link #onRemoved}. */
        void onForgotten(long chunkId);
    }

    private static final Listener NOBODY = new Listener() {
        @Override
        public void onAdded(int segment, int lengthBytes) {}

        @Override
        public void onRemoved(int segment, int lengthBytes) {}

        @Override
        public void onForgotten(long chunkId) {}
    };

    private final MapStripe[] stripes = new MapStripe[STRIPES];
    private final Listener listener;

    public MapTable() {
        this(NOBODY);
    }

    MapTable(Listener listener) {
        this.listener = listener;
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new MapStripe();
        }
    }

    /** Copies a chunk's entry to {@code into}; returns false if there is none. */
    public boolean get(long chunkId, MapEntry into) {
        long hash = ChunkHash.of(chunkId);
        MapStripe stripe = stripe(hash);
        synchronized (stripe) {
            int at = stripe.find(hash, chunkId);
            if (at < 0) {
                return false;
            }
            fill(stripe, at, into);
            return true;
        }
    }

    public boolean contains(long chunkId) {
        long hash = ChunkHash.of(chunkId);
        MapStripe stripe = stripe(hash);
        synchronized (stripe) {
            return stripe.find(hash, chunkId) >= 0;
        }
    }

    /**
     * Adds or replaces an entry, with its heat, count and saving. Values of these above the maximum are reduced to the
     * maximum.
     *
     * @throws IllegalArgumentException if the id is not greater than 0, or segment, offset or length do not fit the
     *     table's bits
     */
    public void put(MapEntry entry) {
        if (entry.chunkId <= 0) {
            throw new IllegalArgumentException("chunk id " + entry.chunkId + " is not greater than 0");
        }
        long place = PackedEntry.place(entry.segment, entry.offset, entry.length, entry.heat);
        int worth = PackedEntry.worth(entry.count, entry.saving);
        long hash = ChunkHash.of(entry.chunkId);
        MapStripe stripe = stripe(hash);
        synchronized (stripe) {
            int at = stripe.find(hash, entry.chunkId);
            if (at < 0) {
                stripe.add(hash, entry.chunkId, place, worth);
            } else {
                tellRemoved(stripe.packedPlace(at));
                stripe.set(at, place, worth);
            }
            listener.onAdded(entry.segment, entry.length);
        }
    }

    /** Removes a chunk's entry and copies it to {@code removed}; returns false if there was none. */
    public boolean remove(long chunkId, MapEntry removed) {
        long hash = ChunkHash.of(chunkId);
        MapStripe stripe = stripe(hash);
        synchronized (stripe) {
            int at = stripe.find(hash, chunkId);
            if (at < 0) {
                return false;
            }
            removeAt(stripe, at, removed);
            return true;
        }
    }

    /** As {@link #remove(long, MapEntry)}, but only if the entry still points to that place. */
    boolean removeIfAt(long chunkId, int segment, int offset, MapEntry removed) {
        long hash = ChunkHash.of(chunkId);
        MapStripe stripe = stripe(hash);
        synchronized (stripe) {
            int at = findAt(stripe, hash, chunkId, segment, offset);
            if (at < 0) {
                return false;
            }
            removeAt(stripe, at, removed);
            return true;
        }
    }

    /**
     * Points an entry to a copy of its record, if it still points to the given place.
     *
     * @param to chunk id and new place; count, saving and heat stay unchanged, and are filled in
     */
    boolean moveIfAt(int segment, int offset, MapEntry to) {
        long hash = ChunkHash.of(to.chunkId);
        MapStripe stripe = stripe(hash);
        synchronized (stripe) {
            int at = findAt(stripe, hash, to.chunkId, segment, offset);
            if (at < 0) {
                return false;
            }
            long old = stripe.packedPlace(at);
            long place = PackedEntry.place(to.segment, to.offset, to.length, PackedEntry.heat(old));
            tellRemoved(old);
            stripe.set(at, place, stripe.packedWorth(at));
            listener.onAdded(to.segment, to.length);
            fill(stripe, at, to);
            return true;
        }
    }

    /** Raises count and saving to these values if they were lower, and heat by one. */
    public void noteWanted(long chunkId, int count, int saving) {
        long hash = ChunkHash.of(chunkId);
        MapStripe stripe = stripe(hash);
        synchronized (stripe) {
            int at = stripe.find(hash, chunkId);
            if (at >= 0) {
                long place = stripe.packedPlace(at);
                int worth = stripe.packedWorth(at);
                int newCount = Math.max(count, PackedEntry.count(worth));
                int newSaving = Math.max(saving, PackedEntry.saving(worth));
                stripe.set(
                        at,
                        PackedEntry.withHeat(place, PackedEntry.heat(place) + 1),
                        PackedEntry.worth(newCount, newSaving));
            }
        }
    }

    /** Sets a chunk's reference count; ignored if it has no entry. */
    public void setCount(long chunkId, int count) {
        long hash = ChunkHash.of(chunkId);
        MapStripe stripe = stripe(hash);
        synchronized (stripe) {
            int at = stripe.find(hash, chunkId);
            if (at >= 0) {
                int saving = PackedEntry.saving(stripe.packedWorth(at));
                stripe.set(at, stripe.packedPlace(at), PackedEntry.worth(count, saving));
            }
        }
    }

    /** Halves every entry's heat, so that older requests count less (ageing). */
    public void age() {
        for (MapStripe stripe : stripes) {
            synchronized (stripe) {
                stripe.halveHeat();
            }
        }
    }

    /** Returns the number of entries. */
    public int size() {
        int size = 0;
        for (MapStripe stripe : stripes) {
            size += stripe.size();
        }
        return size;
    }

    /** Returns the heap bytes, free places included. */
    public long heapBytes() {
        long bytes = 0;
        for (MapStripe stripe : stripes) {
            synchronized (stripe) {
                bytes += stripe.heapBytes();
            }
        }
        return bytes;
    }

    /**
     * Passes every entry to the visitor, each stripe as at one moment; the entry is valid during the call only. The
     * visitor is called without a lock, on a copy of the stripe (a 64th of the table): it may change the table, and
     * sees its changes in later stripes only.
     */
    public void forEach(Consumer<MapEntry> visitor) {
        MapEntry entry = new MapEntry();
        for (MapStripe stripe : stripes) {
            MapStripe copy;
            synchronized (stripe) {
                copy = stripe.copy();
            }
            for (int at = 0; at < copy.capacity(); at++) {
                if (!copy.isEmpty(at)) {
                    fill(copy, at, entry);
                    visitor.accept(entry);
                }
            }
        }
    }

    private MapStripe stripe(long hash) {
        // The low bits select the stripe; the high bits select the place within it.
        return stripes[(int) hash & (STRIPES - 1)];
    }

    private static int findAt(MapStripe stripe, long hash, long chunkId, int segment, int offset) {
        int at = stripe.find(hash, chunkId);
        if (at < 0) {
            return -1;
        }
        long place = stripe.packedPlace(at);
        return PackedEntry.segment(place) == segment && PackedEntry.offset(place) == offset ? at : -1;
    }

    private void removeAt(MapStripe stripe, int at, MapEntry removed) {
        fill(stripe, at, removed);
        stripe.removeAt(at);
        listener.onRemoved(removed.segment, removed.length);
        listener.onForgotten(removed.chunkId);
    }

    private void tellRemoved(long place) {
        listener.onRemoved(PackedEntry.segment(place), PackedEntry.length(place));
    }

    private static void fill(MapStripe stripe, int at, MapEntry into) {
        long place = stripe.packedPlace(at);
        int worth = stripe.packedWorth(at);
        into.chunkId = stripe.id(at);
        into.segment = PackedEntry.segment(place);
        into.offset = PackedEntry.offset(place);
        into.length = PackedEntry.length(place);
        into.heat = PackedEntry.heat(place);
        into.count = PackedEntry.count(worth);
        into.saving = PackedEntry.saving(worth);
    }
}
