package org.opendedup.sar.sdfs.fuse.kernel;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.KernelClock;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.SetAttribute;
import org.opendedup.sar.volume.posix.AttributeChange;

/**
 * The arguments of SETATTR ({@code fuse_setattr_in}).
 *
 * @param valid the fields that are set, and how
 * @param change their values
 */
record SetAttributeArguments(int valid, AttributeChange change) {
    private static final long NANOS = 1_000_000_000;

    static SetAttributeArguments take(Request request) throws MalformedRequestException {
        int valid = request.takeInt();
        request.skip(12); // padding, handle
        long size = request.takeLong();
        request.skip(8); // lock owner
        long accessed = request.takeLong();
        long modified = request.takeLong();
        long changed = request.takeLong();
        long accessedNs = time(accessed, request.takeInt());
        long modifiedNs = time(modified, request.takeInt());
        long changedNs = time(changed, request.takeInt());
        int mode = request.takeInt();
        request.skip(4);
        int uid = request.takeInt();
        int gid = request.takeInt();
        if ((valid & SetAttribute.SIZE) != 0 && size < 0) {
            throw new MalformedRequestException("a file size of " + size);
        }
        var change = new AttributeChange(
                given(valid, SetAttribute.MODE, mode & FileMode.PERMISSIONS),
                given(valid, SetAttribute.UID, uid),
                given(valid, SetAttribute.GID, gid),
                given(valid, SetAttribute.SIZE, size),
                timeOrNow(valid, SetAttribute.ATIME, SetAttribute.ATIME_NOW, accessedNs),
                timeOrNow(valid, SetAttribute.MTIME, SetAttribute.MTIME_NOW, modifiedNs),
                given(valid, SetAttribute.CTIME, changedNs));
        return new SetAttributeArguments(valid, change);
    }

    /** Returns the value of a field; null if it is not set. */
    private static <T> @Nullable T given(int valid, int field, T value) {
        return (valid & field) == 0 ? null : value;
    }

    private static @Nullable Long timeOrNow(int valid, int field, int nowField, long given) {
        if ((valid & nowField) != 0) {
            Instant now = KernelClock.machine().instant();
            return now.getEpochSecond() * NANOS + now.getNano();
        }
        return given(valid, field, given);
    }

    /**
     * Returns nanoseconds since 1970. Times outside the years 1677 to 2262 do not fit in 64 bits and become the nearest
     * value that fits.
     */
    private static long time(long seconds, int nanos) {
        try {
            return Math.addExact(Math.multiplyExact(seconds, NANOS), nanos);
        } catch (ArithmeticException e) {
            return seconds < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    /** Returns true if any of these fields is set. */
    boolean has(int fields) {
        return (valid & fields) != 0;
    }

    /** Returns true if no other fields are set, except those that only identify the sender. */
    boolean hasNothingBut(int fields) {
        return !has(~(fields | SetAttribute.HANDLE | SetAttribute.LOCK_OWNER));
    }
}
