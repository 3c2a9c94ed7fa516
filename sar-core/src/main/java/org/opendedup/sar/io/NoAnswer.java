package org.opendedup.sar.io;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tells which failures say nothing about what is stored: the process or the machine had no means to ask, the call was
 * interrupted, the file closed, or the device or the store is not there. Nobody may take such a failure for damage.
 */
public final class NoAnswer {
    private static final Set<SystemError> ERRORS = EnumSet.complementOf(EnumSet.of(
            SystemError.NO_SUCH_FILE, SystemError.NO_SPACE, SystemError.READ_ONLY, SystemError.QUOTA_EXCEEDED));

    private NoAnswer() {}

    /** Throws a failure that says nothing about what is stored, or with such a cause; otherwise does nothing. */
    public static void rethrow(IOException failure) throws IOException {
        if (is(failure)) {
            throw failure;
        }
    }

    /** Returns whether a failure, or one of its causes, says nothing about what is stored. */
    public static boolean is(@Nullable Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            String text = at instanceof FileSystemException file ? file.getReason() : at.getMessage();
            if (at instanceof UnavailableException
                    || at instanceof InterruptedIOException
                    || at instanceof AccessDeniedException
                    || at instanceof ClosedChannelException
                    || at instanceof IOException && ERRORS.stream().anyMatch(error -> error.ends(text))) {
                return true;
            }
        }
        return false;
    }
}
