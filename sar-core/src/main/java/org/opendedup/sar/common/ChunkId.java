package org.opendedup.sar.common;

/**
 * A chunk id: the name of one stored copy of a chunk, for ever. It is a {@code long} made of a container id (47 bits,
 * from 1 up, never reused) and a slot, the chunk's number in its container (16 bits); the sign bit is never set.
 *
 * <p>Ids are kept in {@code long[]} on the hot paths, so this class has no instances, only the arithmetic.
 */
public final class ChunkId {
    /** Names no chunk. In a recipe: a run of zero bytes, which is a length and never data. */
    public static final long NONE = 0;

    public static final int SLOT_BITS = 16;
    /** Slots of one container are 0 to this, less one. */
    public static final int MAX_SLOTS = 1 << SLOT_BITS;
    /** Container ids are 1 to this. */
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

    /** {@code container:slot}, as log lines and commands show it. */
    public static String toString(long chunkId) {
        return chunkId == NONE ? "none" : container(chunkId) + ":" + slot(chunkId);
    }
}
