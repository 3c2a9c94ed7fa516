package org.opendedup.sar.metadata.record;

import org.jspecify.annotations.Nullable;

/**
 * A record of the intent log: a change of the bytes of a file that are durable in the log and in no chunk yet. The
 * records of a file apply in the order of their numbers, which begin at 0 and have no gaps.
 *
 * @param number its number among the records of the file
 * @param offset offset in the file of the first byte concerned
 * @param length number of bytes concerned, at least 1
 * @param bytes the bytes written there; null if the log does not have the bytes of this range any more: they are in the
 *     recipe, or were removed
 */
public record IntentRecord(long number, long offset, long length, byte @Nullable [] bytes) {
    /** Returns the same change under another number. */
    public IntentRecord withNumber(long other) {
        return new IntentRecord(other, offset, length, bytes);
    }

    /** Returns the offset after the last byte concerned. */
    public long end() {
        return offset + length;
    }
}
