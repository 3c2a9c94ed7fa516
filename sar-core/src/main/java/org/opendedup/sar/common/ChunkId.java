package org.opendedup.sar.common;

/**
 * A chunk id: the permanent name of one stored copy of a chunk. It is a {@code long} made of a container id (47 bits,
 * from 1 up, never reused) and a slot, the chunk's number in its container (16 bits); the sign bit is never set.
 *
 * <p>The hot paths keep ids in {@code long[]}, so this class has no instances, only the arithmetic.
 */
public final class ChunkId {
    /** The id that names no chunk. In a recipe: a run of zero bytes, which is stored as a length and never as data. */
    public static final long NONE = 0;

    public static final int SLOT_BITS = 16;
    /** Number of slots of a container: slots are 0 to this number minus 1. */
    public static final int MAX_SLOTS = 1 << SLOT_BITS;

    /**
     * Most by which the number of a pack is above the id of its first container. Containers with the ids in between may
     * follow in it.
     */
    public static final int MOST_PACK_AHEAD = 1023;

    /** Highest container id; the lowest is 1. */
    public static final long MAX_CONTAINER = (1L << (63 - SLOT_BITS)) - 1;

    private ChunkId() {}

    public static long of(long container, int slot) {
        assert container > 0 && container <= MAX_CONTAINER : container;
        assert slot >= 0 && slot < MAX_SLOTS : slot;
        return container << SLOT_BITS | slot;
    }

    public static long container(long chunkId) {
        return chunkId >>> SLOT_BITS;
    }

    public static int slot(long chunkId) {
        return (int) (chunkId & (MAX_SLOTS - 1));
    }

    /** Returns {@code container:slot}, as log lines and commands show it; {@code none} for {@link #NONE}. */
    public static String toString(long chunkId) {
        return chunkId == NONE ? "none" : container(chunkId) + ":" + slot(chunkId);
    }
}
