package org.opendedup.sar.metadata.record;

import org.jspecify.annotations.Nullable;

/**
 * Says that all bytes of a file are in a backing file on the fast tier.
 *
 * @param number number of the backing file
 * @param pinned whether the file is not to be migrated
 * @param fresh whether the backing file was made and may not be durable yet: if a crash left none, the file is empty
 * @param copy what the file's recipe has; null if it has nothing that may be used
 */
public record RawRecord(
        long number,
        boolean pinned,
        boolean fresh,
        @Nullable Copy copy) {
    /**
     * The recipe has all bytes that the backing file had when it had this length, and was last changed at this time. If
     * the backing file is still so, the recipe is current.
     *
     * @param size in bytes
     * @param changedNs in nanoseconds since 1970, as the file system of the fast tier has it
     */
    public record Copy(long size, long changedNs) {}

    /** Returns this record with another copy. */
    public RawRecord withCopy(@Nullable Copy newCopy) {
        return new RawRecord(number, pinned, fresh, newCopy);
    }

    /** Returns this record as that of a file whose backing file is durable. */
    public RawRecord withDurable() {
        return new RawRecord(number, pinned, false, copy);
    }

    /** Returns this record as that of a file that is pinned, or not. */
    public RawRecord withPinned(boolean isPinned) {
        return new RawRecord(number, isPinned, fresh, copy);
    }
}
