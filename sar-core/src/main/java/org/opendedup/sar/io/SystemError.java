package org.opendedup.sar.io;

import java.util.Locale;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Errors of the kernel that the JDK and RocksDB report only by the C library's text, which is in the language of the
 * process: for example German.
 */
public enum SystemError {
    NOT_PERMITTED(1, "operation not permitted"),
    NO_SUCH_FILE(2, "no such file or directory"),
    INTERRUPTED(4, "interrupted system call"),
    NO_SUCH_ADDRESS(6, "no such device or address"),
    TRY_AGAIN(11, "resource temporarily unavailable"),
    NO_MEMORY(12, "cannot allocate memory"),
    NO_ACCESS(13, "permission denied"),
    NO_DEVICE(19, "no such device"),
    MACHINE_HAS_NO_DESCRIPTOR(23, "too many open files in system"),
    NO_DESCRIPTOR(24, "too many open files"),
    NO_SPACE(28, "no space left on device"),
    READ_ONLY(30, "read-only file system"),
    NO_BUFFER(105, "no buffer space available"),
    NOT_CONNECTED(107, "transport endpoint is not connected"),
    SHUT_DOWN(108, "cannot send after transport endpoint shutdown"),
    TIMED_OUT(110, "connection timed out"),
    HOST_DOWN(112, "host is down"),
    NO_ROUTE(113, "no route to host"),
    STALE_HANDLE(116, "stale file handle"),
    QUOTA_EXCEEDED(122, "disk quota exceeded");

    private final int number;
    private final String english;

    /** The text of {@link #NO_DEVICE}, with which a message ends that says that a device is not there. */
    public static final String NO_DEVICE_TEXT = NO_DEVICE.english;

    SystemError(int number, String english) {
        this.number = number;
        this.english = english;
    }

    /** Returns whether a message contains the text for this error. */
    public boolean isIn(@Nullable String message) {
        return isIn(message, SystemError::words);
    }

    /** Returns whether a message is the text for this error, or ends with it. */
    boolean ends(@Nullable String message) {
        if (message == null) {
            return false;
        }
        String here = words(number);
        return message.toLowerCase(Locale.ROOT).endsWith(english) || here != null && message.endsWith(here);
    }

    /** @param words returns the text for an error number, or null */
    boolean isIn(@Nullable String message, IntFunction<@Nullable String> words) {
        if (message == null) {
            return false;
        }
        String text = message.toLowerCase(Locale.ROOT);
        String here = words.apply(number);
        return text.contains(english) || here != null && text.contains(here.toLowerCase(Locale.ROOT));
    }

    /** Returns whether a message says that a device, or a quota on it, is full. */
    public static boolean isFullIn(@Nullable String message) {
        return NO_SPACE.isIn(message) || QUOTA_EXCEEDED.isIn(message);
    }

    /** Returns whether {@code errno} says that a device, or a quota on it, is full. */
    static boolean isFull(int errno) {
        return errno == NO_SPACE.number || errno == QUOTA_EXCEEDED.number;
    }

    /** Returns the C library's text for an error, or null if it cannot be called. */
    static @Nullable String words(int errno) {
        Libc.Functions libc = Libc.loaded();
        return libc == null ? null : libc.strerror(errno);
    }
}
