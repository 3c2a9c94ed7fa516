package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.file.FileSystemException;
import org.opendedup.sar.common.Answer;
import org.opendedup.sar.common.NoSpaceException;

/** Recognizes the errors of a full disk, which the JDK reports by their message only. */
final class FullDisk {
    private FullDisk() {}

    /** Runs an action, and throws a {@link NoSpaceException} if the disk is full. */
    static <T> T translating(Answer<T> action) throws IOException {
        try {
            return action.get();
        } catch (IOException e) {
            if (isCauseOf(e)) {
                NoSpaceException full = new NoSpaceException(String.valueOf(e.getMessage()));
                full.initCause(e);
                throw full;
            }
            throw e;
        }
    }

    static boolean isCauseOf(IOException e) {
        return SystemError.isFullIn(e instanceof FileSystemException f ? f.getReason() : e.getMessage());
    }
}
