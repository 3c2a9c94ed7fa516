package org.opendedup.sar.metadata.record;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteRanges;

/**
 * Says that bytes of a file are in a backing file on the fast tier: all of them, or those that were changed since the
 * file was migrated.
 *
 * @param number number of the backing file
 * @param pinned whether the file is not to be migrated
 * @param fresh whether the backing file was made and may not be durable yet: if a crash left none, the file is empty
 * @param copy what the file's recipe has; null if it has nothing that may be used
 * @param changed the bytes that are in the backing file and replace those of the recipe, in ascending order; null if
 *     the backing file has all bytes
 */
public record RawRecord(
        long number,
        boolean pinned,
        boolean fresh,
        @Nullable Copy copy,
        @Nullable List<ByteRanges.Range> changed) {
    /**
     * The recipe has all bytes that the backing file had when it had this length, and was last changed at this time. If
     * the backing file is still so, the recipe is current.
     *
     * @param size in bytes
     * @param changedNs in nanoseconds since 1970, as the file system of the fast tier has it
     */
    public record Copy(long size, long changedNs) {
        /** The time of a copy that is not current, whatever time the backing file has: no file was changed then. */
        private static final long OLDER = -1;

        /** Returns this copy as one that is of an earlier state of the backing file. */
        Copy asOlder() {
            return new Copy(size, OLDER);
        }
    }

    /**
     * The record of a file that lies whole on the fast tier, and has nothing in chunks.
     *
     * @param fresh whether its backing file may not be durable yet
     */
    public static RawRecord whole(long number, boolean pinned, boolean fresh) {
        return new RawRecord(number, pinned, fresh, null, null);
    }

    /** The record of a file in chunks of which some bytes are on the fast tier. They are durable there. */
    public static RawRecord ofChanged(long number, List<ByteRanges.Range> changed) {
        return new RawRecord(number, false, false, null, changed);
    }

    /** Returns this record with another copy. */
    public RawRecord withCopy(@Nullable Copy newCopy) {
        return new RawRecord(number, pinned, fresh, newCopy, changed);
    }

    /** Returns this record as that of a file that may be changed: its recipe is not current, if it has one. */
    public RawRecord withOlderCopy() {
        return copy == null ? this : withCopy(copy.asOlder());
    }

    /** Returns this record as that of a file whose backing file is durable. */
    public RawRecord withDurable() {
        return new RawRecord(number, pinned, false, copy, changed);
    }

    /** Returns this record as that of a file that is pinned, or not. */
    public RawRecord withPinned(boolean isPinned) {
        return new RawRecord(number, isPinned, fresh, copy, changed);
    }
}
