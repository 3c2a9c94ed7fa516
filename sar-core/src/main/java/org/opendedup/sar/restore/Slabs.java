package org.opendedup.sar.restore;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;

/**
 * Memory for chunks that are read ahead, in arrays that are used again and again. In arrays of their own the collector would copy
 * most of them several times a second, and nobody could ask the disk for anything meanwhile. An array, a slab, is cut into rooms of
 * one size; there are four sizes between each power of two and the next, so a tenth is left unused, or a quarter where few fit. Safe
 * for use by many threads.
 */
final class Slabs {
    static final int SLAB_BYTES = 128 << 10;
    /** Of a larger one, too few would have room in a slab. */
    static final int MAX_BYTES = SLAB_BYTES / 2;

    private static final int MIN_LOG = 10;
    private static final int SIZES = 4 * (31 - Integer.numberOfLeadingZeros(MAX_BYTES) - MIN_LOG) + 1;

    private final ByteGauge memory;
    private final long maxBytes;
    private final IntFunction<byte[]> arrays;
    /** Of slabs of which a room is in use, and of {@linkplain #array other arrays}. Guarded by this, as is all below it. */
    private long usedBytes;

    /** By size: slabs that have a free room. */
    private final List<ArrayDeque<Slab>> withRoom = new ArrayList<>();

    private final ArrayDeque<byte[]> free = new ArrayDeque<>();
    /** As few arrays were free at once since the last {@link #trim}. */
    private int leastFree;

    /**
     * @param memory is told of what is in use: slabs of which a room is, and other arrays
     * @param maxBytes no more is in use at a time
     */
    Slabs(ByteGauge memory, long maxBytes) {
        this(memory, maxBytes, byte[]::new);
    }

    /** @param arrays makes an array of so many bytes */
    Slabs(ByteGauge memory, long maxBytes, IntFunction<byte[]> arrays) {
        this.memory = memory;
        this.maxBytes = maxBytes;
        this.arrays = arrays;
        for (int i = 0; i < SIZES; i++) {
            withRoom.add(new ArrayDeque<>());
        }
    }

    /** An array cut into rooms. Guarded by its slabs. */
    private static final class Slab {
        private final byte[] bytes;
        private final int size;
        private final int roomBytes;
        /** How many use each room. */
        private final int[] users;
        /** Rooms without a user, up to {@link #freeCount}. */
        private final int[] freeRooms;

        private int freeCount;

        Slab(byte[] bytes, int size) {
            this.bytes = bytes;
            this.size = size;
            roomBytes = roomBytes(size);
            freeCount = bytes.length / roomBytes;
            users = new int[freeCount];
            freeRooms = new int[freeCount];
            for (int i = 0; i < freeCount; i++) {
                freeRooms[i] = freeCount - 1 - i;
            }
        }
    }

    /** Where one chunk lies. Each of its users has to {@link #leave} it; behind the last one its bytes are somebody else's. */
    final class Room {
        private final Slab slab;
        private final int number;

        private Room(Slab slab, int number) {
            this.slab = slab;
            this.number = number;
        }

        /** The array that it is in. */
        byte[] bytes() {
            return slab.bytes;
        }

        /** Where in the array it begins. */
        int offset() {
            return number * slab.roomBytes;
        }

        /** One more user, beside one who has not left. */
        void join() {
            synchronized (Slabs.this) {
                slab.users[number]++;
            }
        }

        /** One user less. */
        void leave() {
            synchronized (Slabs.this) {
                if (--slab.users[number] == 0) {
                    giveBack(slab, number);
                }
            }
        }
    }

    /** The smallest size of rooms that has room for so many bytes. */
    private static int size(int bytes) {
        if (bytes <= 1 << MIN_LOG) {
            return 0;
        }
        int log = 31 - Integer.numberOfLeadingZeros(bytes - 1);
        int quarter = (bytes - 1 - (1 << log)) >> (log - 2);
        return 4 * (log - MIN_LOG) + quarter + 1;
    }

    private static int roomBytes(int size) {
        int below = 1 << (MIN_LOG + (size + 3) / 4 - 1);
        return size == 0 ? 1 << MIN_LOG : below + ((size - 1) % 4 + 1) * (below / 4);
    }

    /** What a chunk of so many bytes takes: its room, or all of an array of its own. */
    static int roomFor(int bytes) {
        return bytes <= MAX_BYTES ? roomBytes(size(bytes)) : bytes;
    }

    /**
     * A room with one user; null if there is no memory for it.
     *
     * @param bytes at most {@link #MAX_BYTES}
     */
    synchronized @Nullable Room take(int bytes) {
        int size = size(bytes);
        ArrayDeque<Slab> slabs = withRoom.get(size);
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
        Room room = new Room(slab, slab.freeRooms[slab.freeCount - 1]);
        slab.freeCount--;
        slab.users[room.number] = 1;
        if (slab.freeCount == 0) {
            slabs.pop();
        }
        return room;
    }

    private void giveBack(Slab slab, int number) {
        ArrayDeque<Slab> slabs = withRoom.get(slab.size);
        if (slab.freeCount == 0) {
            // Behind those that have more room: they get full again, and it may become empty.
            slabs.addLast(slab);
        }
        slab.freeRooms[slab.freeCount++] = number;
        if (slab.freeCount == slab.freeRooms.length) {
            slabs.remove(slab);
            free.push(slab.bytes);
            unreserve(SLAB_BYTES);
        }
    }

    /** A new array, to be {@linkplain #unreserve unreserved}; null if there is no memory for it. Where Java has none, nothing stays counted. */
    byte @Nullable [] array(int bytes) {
        if (!reserve(bytes)) {
            return null;
        }
        try {
            return arrays.apply(bytes);
        } catch (OutOfMemoryError e) {
            unreserve(bytes);
            throw e;
        }
    }

    private synchronized boolean reserve(int bytes) {
        if (usedBytes + bytes > maxBytes) {
            return false;
        }
        usedBytes += bytes;
        memory.add(bytes);
        return true;
    }

    /** An array is not used any more. */
    synchronized void unreserve(int bytes) {
        usedBytes -= bytes;
        memory.add(-bytes);
    }

    /** Gives up the arrays that nobody needed since this was called last. */
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
