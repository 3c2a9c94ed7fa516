package org.opendedup.sar.io;

import java.util.Locale;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Errors of the kernel that the JDK and RocksDB tell by the C library's words alone, which are in the language of the process: German, say.
 */
public enum SystemError {
    NO_SUCH_FILE(2, "no such file or directory"),
    NO_SPACE(28, "no space left on device"),
    READ_ONLY(30, "read-only file system"),
    QUOTA_EXCEEDED(122, "disk quota exceeded");

    private final int number;
    private final String english;

    SystemError(int number, String english) {
        this.number = number;
        this.english = english;
    }

    /** Whether a message has the words for this error. */
    public boolean isIn(@Nullable String message) {
        return isIn(message, SystemError::words);
    }

    /** @param words gives the words for an error by its number, or null */
    boolean isIn(@Nullable String message, IntFunction<@Nullable String> words) {
        if (message == null) {
            return false;
        }
        String text = message.toLowerCase(Locale.ROOT);
        String here = words.apply(number);
        return text.contains(english) || here != null && text.contains(here.toLowerCase(Locale.ROOT));
    }

    /** Whether a message says that a device, or somebody's share of it, is full. */
    public static boolean isFullIn(@Nullable String message) {
        return NO_SPACE.isIn(message) || QUOTA_EXCEEDED.isIn(message);
    }

    /** Whether {@code errno} says that a device, or somebody's share of it, is full. */
    static boolean isFull(int errno) {
        return errno == NO_SPACE.number || errno == QUOTA_EXCEEDED.number;
    }

    /** The C library's words for an error, null if it can't be asked. */
    static @Nullable String words(int errno) {
        Libc.Functions libc = Libc.functions();
        return libc == null ? null : libc.strerror(errno);
    }
}
