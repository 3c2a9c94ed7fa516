package org.opendedup.sar.volume;

import org.jspecify.annotations.Nullable;

/**
 * A change of attributes; null leaves one as it is. A change of anything also sets the change time, to {@code changedNs}
 * or, where that is null, to now.
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

    public static AttributeChange ofMode(int mode) {
        return new AttributeChange(mode, null, null, null, null, null, null);
    }

    public static AttributeChange ofSize(long size) {
        return new AttributeChange(null, null, null, size, null, null, null);
    }
}
