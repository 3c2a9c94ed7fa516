package org.opendedup.sar.restore.frame;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;

/**
 * Memory for chunks that are read ahead, in arrays that are reused. If each chunk had an array of its own, the garbage
 * collector would copy most of them several times a second, and no thread could send requests to the disk meanwhile. An
 * array, a slab, is cut into slots of one size. There are four sizes between each power of two and the next, so a tenth
 * is left unused, or a quarter where few slots fit. Safe for use by many threads.
 */
public final class Slabs {
    static final int SLAB_BYTES = 128 << 10;
    /** Largest chunk in a slab, in bytes; of larger chunks too few would fit. */
    public static final int MAX_BYTES = SLAB_BYTES / 2;

    private static final int MIN_LOG = 10;
    private static final int SIZES = 4 * (31 - Integer.numberOfLeadingZeros(MAX_BYTES) - MIN_LOG) + 1;

    private final ByteGauge memory;
    private final long maxBytes;
    private final IntFunction<byte[]> arrays;
    /**
     * Bytes of slabs of which a slot is in use, and of {@linkplain #array other arrays}. Guarded by this, as are all
     * fields below.
     */
    private long usedBytes;

    /** By size, the slabs that have a free slot. */
    private final List<ArrayDeque<Slab>> withFreeSlot = new ArrayList<>();

    private final ArrayDeque<byte[]> free = new ArrayDeque<>();
    /** Least number of free arrays since the last {@link #trim}. */
    private int leastFree;

    /**
     * @param memory gauge of what is in use: slabs of which a slot is in use, and other arrays
     * @param maxBytes most bytes in use at a time, and with those that are free when one more is made
     */
    Slabs(ByteGauge memory, long maxBytes) {
        this(memory, maxBytes, byte[]::new);
    }

    /** @param arrays makes an array of the given length in bytes */
    Slabs(ByteGauge memory, long maxBytes, IntFunction<byte[]> arrays) {
        this.memory = memory;
        this.maxBytes = maxBytes;
        this.arrays = arrays;
        for (int i = 0; i < SIZES; i++) {
            withFreeSlot.add(new ArrayDeque<>());
        }
    }

    /** An array cut into slots. Guarded by the {@link Slabs} that it belongs to. */
    private static final class Slab {
        private final byte[] bytes;
        private final int size;
        private final int slotBytes;
        /** Number of users of each slot. */
        private final int[] users;
        /** Slots without a user, up to {@link #freeCount}. */
        private final int[] freeSlots;

        private int freeCount;

        Slab(byte[] bytes, int size) {
            this.bytes = bytes;
            this.size = size;
            slotBytes = slotBytes(size);
            freeCount = bytes.length / slotBytes;
            users = new int[freeCount];
            freeSlots = new int[freeCount];
            for (int i = 0; i < freeCount; i++) {
                freeSlots[i] = freeCount - 1 - i;
            }
        }
    }

    /**
     * The place of one chunk in a slab. Each of its users must {@link #leave} it; after the last one the slot is
     * reused.
     */
    final class Slot {
        private final Slab slab;
        private final int number;

        private Slot(Slab slab, int number) {
            this.slab = slab;
            this.number = number;
        }

        /** Array that contains the slot. */
        byte[] bytes() {
            return slab.bytes;
        }

        /** Offset in the array at which the slot begins. */
        int offset() {
            return number * slab.slotBytes;
        }

        /** Adds a user, while another user has not left. */
        void join() {
            synchronized (Slabs.this) {
                slab.users[number]++;
            }
        }

        /** Removes a user. */
        void leave() {
            synchronized (Slabs.this) {
                if (--slab.users[number] == 0) {
                    giveBack(slab, number);
                }
            }
        }
    }

    /** Returns the smallest size of slots that holds {@code bytes} bytes. */
    private static int size(int bytes) {
        if (bytes <= 1 << MIN_LOG) {
            return 0;
        }
        int log = 31 - Integer.numberOfLeadingZeros(bytes - 1);
        int quarter = (bytes - 1 - (1 << log)) >> (log - 2);
        return 4 * (log - MIN_LOG) + quarter + 1;
    }

    private static int slotBytes(int size) {
        int below = 1 << (MIN_LOG + (size + 3) / 4 - 1);
        return size == 0 ? 1 << MIN_LOG : below + ((size - 1) % 4 + 1) * (below / 4);
    }

    /** Bytes of memory for a chunk of {@code bytes} bytes: its slot, or all of an array of its own. */
    static int slotBytesFor(int bytes) {
        return bytes <= MAX_BYTES ? slotBytes(size(bytes)) : bytes;
    }

    /**
     * Returns a slot with one user; null if there is no memory for it.
     *
     * @param bytes bytes of the chunk, at most {@link #MAX_BYTES}
     */
    synchronized @Nullable Slot take(int bytes) {
        int size = size(bytes);
        ArrayDeque<Slab> slabs = withFreeSlot.get(size);
        Slab slab = slabs.peek();
        if (slab == null) {
            byte[] whole = free.isEmpty() ? array(SLAB_BYTES) : reserve(SLAB_BYTES) ? free.pop() : null;
            if (whole == null) {
                return null;
            }
            try {
                slab = new Slab(whole, size);
            } catch (OutOfMemoryError e) {
                unreserve(SLAB_BYTES);
                throw e;
            }
            leastFree = Math.min(leastFree, free.size());
            slabs.push(slab);
        }
        Slot slot = new Slot(slab, slab.freeSlots[slab.freeCount - 1]);
        slab.freeCount--;
        slab.users[slot.number] = 1;
        if (slab.freeCount == 0) {
            slabs.pop();
        }
        return slot;
    }

    private void giveBack(Slab slab, int number) {
        ArrayDeque<Slab> slabs = withFreeSlot.get(slab.size);
        if (slab.freeCount == 0) {
            // Placed after slabs with more free slots: those are filled first, and this one may become empty.
            slabs.addLast(slab);
        }
        slab.freeSlots[slab.freeCount++] = number;
        if (slab.freeCount == slab.freeSlots.length) {
            slabs.remove(slab);
            free.push(slab.bytes);
            unreserve(SLAB_BYTES);
        }
    }

    /**
     * Returns a new array, to be {@linkplain #unreserve unreserved}; null if there is no memory for it. If Java is out
     * of memory, nothing stays counted.
     */
    byte @Nullable [] array(int bytes) {
        if (!reserve(bytes)) {
            return null;
        }
        dropFree();
        try {
            return arrays.apply(bytes);
        } catch (OutOfMemoryError e) {
            unreserve(bytes);
            throw e;
        }
    }

    /** Releases free arrays that have no room beside what is in use. */
    private synchronized void dropFree() {
        while (!free.isEmpty() && usedBytes + (long) free.size() * SLAB_BYTES > maxBytes) {
            free.removeLast();
        }
        leastFree = Math.min(leastFree, free.size());
    }

    private synchronized boolean reserve(int bytes) {
        if (usedBytes + bytes > maxBytes) {
            return false;
        }
        usedBytes += bytes;
        memory.add(bytes);
        return true;
    }

    /** Notes that an array is not used any more. */
    synchronized void unreserve(int bytes) {
        usedBytes -= bytes;
        memory.add(-bytes);
    }

    /** Releases the free arrays that were not needed since the last call. */
    synchronized void trim() {
        for (int i = 0; i < leastFree; i++) {
            free.removeLast();
        }
        leastFree = free.size();
    }

    /** Number of arrays kept for later use. */
    synchronized int freeSlabs() {
        return free.size();
    }
}
