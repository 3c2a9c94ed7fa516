package org.opendedup.sar.container.format;

import org.opendedup.sar.common.Fingerprints;

/**
 * The number with which each chunk begins in a chunk list: its length in bytes, 0 if the chunk is removed. For a
 * <em>lost</em> chunk, of which no copy was found when the container was written anew, {@value #LOST} is added: the
 * frame does not have its bytes, and its fingerprint follows as for any chunk, so that a copy can be known later.
 */
public final class ChunkEntry {
    /** Added to the length of a lost chunk; greater than any length, so that four bytes of a varint are enough. */
    static final int LOST = 1 << 27;

    private ChunkEntry() {}

    /** Returns the entry of a lost chunk of that length, in bytes. */
    public static int lost(int length) {
        return length + LOST;
    }

    public static boolean isLost(int entry) {
        return entry > LOST;
    }

    /** Returns the length of the chunk in bytes, also if it is lost; 0 if it is removed. */
    public static int length(int entry) {
        return isLost(entry) ? entry - LOST : entry;
    }

    /** Returns how many bytes of the chunk the frame has: all, or 0 if it is lost or removed. */
    public static int storedBytes(int entry) {
        return isLost(entry) ? 0 : entry;
    }

    /** Returns whether a fingerprint follows. */
    public static boolean hasFingerprint(int entry) {
        return entry > 0;
    }

    /** Returns the bytes that the entry takes in a chunk list, with its fingerprint. */
    public static int listBytes(int entry) {
        int varint = Math.max(1, (Integer.SIZE - Integer.numberOfLeadingZeros(entry) + 6) / 7);
        return varint + (hasFingerprint(entry) ? Fingerprints.BYTES : 0);
    }

    /** Returns whether the entry is within the limits of the format. */
    public static boolean isValid(int entry) {
        return entry != LOST && length(entry) <= FrameFormat.MAX_RAW_BYTES;
    }
}
