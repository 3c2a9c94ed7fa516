package org.opendedup.sar.restore;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;

/**
 * Arrays that are used again and again, for chunks that are in memory for seconds. In arrays of their own a collector that runs
 * every few hundredths of a second would copy them all, and nobody could ask the disk for anything meanwhile. Safe for use by many
 * threads.
 */
final class Slabs {
    static final int SLAB_BYTES = 256 << 10;
    /** A larger one would leave too much of a slab empty. */
    static final int MAX_BYTES = SLAB_BYTES / 4;

    private final ByteGauge memory;

    /** Guarded by this, as is all below it. */
    private final ArrayDeque<byte[]> free = new ArrayDeque<>();
    /** As few arrays were free at once since the last {@link #trim}. */
    private int leastFree;

    private @Nullable Slab filling;

    /** @param memory is told of the slabs that somebody uses */
    Slabs(ByteGauge memory) {
        this.memory = memory;
    }

    /** An array with room for several users, each of whom must {@link #leave} it; then it is used again. Guarded by its slabs. */
    final class Slab {
        private final byte[] bytes;
        private int users;
        private int filled;

        private Slab(byte[] bytes) {
            this.bytes = bytes;
        }

        byte[] bytes() {
            return bytes;
        }

        /** One more user, beside one who has not left. */
        void join() {
            synchronized (Slabs.this) {
                users++;
            }
        }

        /** One user less. Behind the last one the bytes are somebody else's. */
        void leave() {
            synchronized (Slabs.this) {
                if (--users == 0) {
                    filling = filling == this ? null : filling;
                    free.push(bytes);
                    memory.add(-SLAB_BYTES);
                }
            }
        }
    }

    /** Room for {@code length} bytes in a slab, from {@code offset} on; their user has joined it. */
    record Room(Slab slab, int offset) {}

    /** @param length at most {@link #MAX_BYTES} */
    synchronized Room take(int length) {
        Slab slab = filling;
        if (slab == null || slab.filled + length > SLAB_BYTES) {
            slab = new Slab(free.isEmpty() ? new byte[SLAB_BYTES] : free.pop());
            leastFree = Math.min(leastFree, free.size());
            memory.add(SLAB_BYTES);
            filling = slab;
        }
        Room room = new Room(slab, slab.filled);
        slab.filled += length;
        slab.users++;
        return room;
    }

    /** Gives back the arrays that nobody needed since this was called last. */
    synchronized void trim() {
        for (int i = 0; i < leastFree; i++) {
            free.removeLast();
        }
        leastFree = free.size();
    }

    /** Arrays kept for later use. */
    synchronized int freeSlabs() {
        return free.size();
    }
}
