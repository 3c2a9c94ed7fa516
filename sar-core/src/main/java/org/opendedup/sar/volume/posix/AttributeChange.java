package org.opendedup.sar.volume.posix;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A change of attributes; null leaves an attribute unchanged. Any change also sets the change time, to
 * {@code changedNs} or, if that is null, to now. A new length sets the modification time in the same way. A length
 * equal to the present one sets neither (truncate(2)).
 *
 * @param mode permission bits (the file type stays)
 * @param size new length in bytes; bytes beyond it are removed, bytes added are zero
 * @param accessedNs access time in nanoseconds since 1970; the other times likewise
 */
public record AttributeChange(
        @Nullable Integer mode,
        @Nullable Integer uid,
        @Nullable Integer gid,
        @Nullable Long size,
        @Nullable Long accessedNs,
        @Nullable Long modifiedNs,
        @Nullable Long changedNs) {
    private static final long NANOS = 1_000_000_000;

    public static AttributeChange ofMode(int mode) {
        return new AttributeChange(mode, null, null, null, null, null, null);
    }

    public static AttributeChange ofSize(long size) {
        return new AttributeChange(null, null, null, size, null, null, null);
    }

    /** Returns a change as ftruncate(2) and O_TRUNC make it: it sets the times even if the length stays the same. */
    public static AttributeChange ofTruncation(long size, Instant at) {
        long now = Math.addExact(Math.multiplyExact(at.getEpochSecond(), NANOS), at.getNano());
        return new AttributeChange(null, null, null, size, null, now, now);
    }

    public AttributeChange withMode(int value) {
        return new AttributeChange(value, uid, gid, size, accessedNs, modifiedNs, changedNs);
    }

    /** Returns whether only the length is to change. */
    public boolean isOfSizeAlone() {
        return size != null
                && mode == null
                && uid == null
                && gid == null
                && accessedNs == null
                && modifiedNs == null
                && changedNs == null;
    }
}
