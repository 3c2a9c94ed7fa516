package org.opendedup.sar.volume;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A change of attributes; null leaves one as it is. A change of anything also sets the change time, to {@code changedNs}
 * or, where that is null, to now. A new length sets the modification time likewise; the length that a file has already sets
 * neither (truncate(2)).
 *
 * @param mode permission bits (the file type stays)
 * @param size new length in bytes; bytes beyond it are gone, bytes added are zero
 * @param accessedNs nanoseconds since 1970; likewise the other times
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

    /** As ftruncate(2) and O_TRUNC have it: the times change also where the length does not. */
    public static AttributeChange ofTruncation(long size, Instant at) {
        long now = Math.addExact(Math.multiplyExact(at.getEpochSecond(), NANOS), at.getNano());
        return new AttributeChange(null, null, null, size, null, now, now);
    }

    public AttributeChange withMode(int value) {
        return new AttributeChange(value, uid, gid, size, accessedNs, modifiedNs, changedNs);
    }

    /** Whether nothing but the length is named. */
    boolean isOfSizeAlone() {
        return size != null
                && mode == null
                && uid == null
                && gid == null
                && accessedNs == null
                && modifiedNs == null
                && changedNs == null;
    }
}
