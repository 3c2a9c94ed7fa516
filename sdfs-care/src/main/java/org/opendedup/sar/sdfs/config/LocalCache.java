package org.opendedup.sar.sdfs.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;

/**
 * The value of {@code --local-cache}.
 *
 * @param folder folder through which containers go to the object store; null: the data location, wherever that is
 * @param bytes most bytes there of what the store has, too
 */
public record LocalCache(@Nullable Path folder, long bytes) {
    /** The length of a whole container pack in a store: with less, each would leave at once. */
    static final long LEAST_BYTES = 64L << 20;

    /** Largest size that is chosen without being asked for. */
    private static final long DEFAULT_MOST_BYTES = 100L << 30;

    private static final int DEFAULT_PART = 4;

    static LocalCache parse(String text) {
        int colon = text.lastIndexOf(':');
        return new LocalCache(
                colon < 0 ? null : OptionKind.FOLDER.parser().apply(text.substring(0, colon)),
                size(text.substring(colon + 1)));
    }

    private static long size(String text) {
        long bytes = ByteSize.parse(text);
        Checks.check(
                bytes >= LEAST_BYTES,
                ByteSize.exact(bytes) + " of cache; it must be at least " + ByteSize.exact(LEAST_BYTES));
        return bytes;
    }

    /** Returns the size of the cache if none was given: whole GiB, or whole MiB of a small one. */
    public static long defaultBytes(long diskBytes) {
        long bytes = Math.max(LEAST_BYTES, Math.min(DEFAULT_MOST_BYTES, diskBytes / DEFAULT_PART));
        long unit = bytes < 1L << 30 ? 1L << 20 : 1L << 30;
        return bytes - bytes % unit;
    }

    /** Returns the text that is parsed. */
    @Override
    public String toString() {
        return (folder == null ? "" : folder + ":") + ByteSize.exact(bytes);
    }
}
