package org.opendedup.sar.common;

/**
 * Where a container lies and what it is: its entry in the container table.
 *
 * @param writing which writing of the container lies there
 * @param state whether the container is complete
 * @param pack number of the pack, the file in which it lies
 * @param offset its first byte in the pack, a multiple of 4096
 * @param bytes its length in the pack in bytes: if it is open, of the part that is known to be durable
 * @param slots number of slots in that length
 * @param rawBytes bytes of its chunks before compression, in that length; after a collection without those of damaged
 *     frames that no file refers to, which cannot be removed
 * @param recompressed zstd level at which the collector compressed it anew, or found that this saves nothing; 0 if its
 *     frames are as they were written
 */
public record StoredContainer(
        Writing writing, State state, long pack, long offset, long bytes, int slots, long rawBytes, int recompressed) {
    /** Highest level of zstd. */
    public static final int MAX_LEVEL = 22;

    /** A container whose frames are as they were written. */
    public StoredContainer(Writing writing, State state, long pack, long offset, long bytes, int slots, long rawBytes) {
        this(writing, state, pack, offset, bytes, slots, rawBytes, 0);
    }

    /** Returns the same container in the same place, with another level. */
    public StoredContainer withRecompressed(int level) {
        return new StoredContainer(writing, state, pack, offset, bytes, slots, rawBytes, level);
    }

    /** Returns whether the other container lies where this one does. */
    public boolean isAt(StoredContainer other) {
        return pack == other.pack && offset == other.offset;
    }

    /** Whether a container is complete. */
    public enum State {
        /** Being written, or left by a crash: header and frames, without directory and footer. */
        OPEN,
        /** Complete: never changed in its place. */
        SEALED
    }
}
