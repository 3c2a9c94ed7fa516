package org.opendedup.sar.sdfs.fuse.kernel;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.KernelClock;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.SetAttribute;
import org.opendedup.sar.volume.posix.AttributeChange;

/** The arguments of SETATTR ({@code fuse_setattr_in}). Only the fields named by {@code valid} have a value. */
record SetAttributeArguments(
        int valid, long size, long accessedNs, long modifiedNs, long changedNs, int mode, int uid, int gid) {

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
        return new SetAttributeArguments(valid, size, accessedNs, modifiedNs, changedNs, mode, uid, gid);
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

    AttributeChange toChange() {
        return new AttributeChange(
                has(SetAttribute.MODE) ? (Integer) (mode & FileMode.PERMISSIONS) : null,
                has(SetAttribute.UID) ? (Integer) uid : null,
                has(SetAttribute.GID) ? (Integer) gid : null,
                has(SetAttribute.SIZE) ? (Long) size : null,
                timeOrNow(SetAttribute.ATIME, SetAttribute.ATIME_NOW, accessedNs),
                timeOrNow(SetAttribute.MTIME, SetAttribute.MTIME_NOW, modifiedNs),
                has(SetAttribute.CTIME) ? (Long) changedNs : null);
    }

    private @Nullable Long timeOrNow(int field, int nowField, long given) {
        if (has(nowField)) {
            Instant now = KernelClock.machine().instant();
            return now.getEpochSecond() * NANOS + now.getNano();
        }
        return has(field) ? (Long) given : null;
    }
}
