package org.opendedup.sar.sdfs.cli.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** What a failure is called in messages for people. */
public final class FailureText {
    private FailureText() {}

    /** Marks a failure whose message says everything. */
    public interface ForPeople {}

    /** Returns what a file system exception means; that of the JDK often has only the path as its message. */
    public static String of(Throwable e) {
        String message = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        if (e instanceof FileSystemException told && told.getReason() != null) {
            return message;
        } else if (e instanceof NoSuchFileException) {
            return message + ": no such file or folder";
        } else if (e instanceof AccessDeniedException) {
            return message + ": permission denied";
        } else if (e instanceof FileAlreadyExistsException) {
            return message + ": exists already";
        } else if (e instanceof NotDirectoryException) {
            return message + ": not a folder";
        } else if (e instanceof IOException || e instanceof UncheckedIOException || e instanceof ForPeople) {
            return message;
        }
        return e.getClass().getSimpleName() + ": " + message;
    }
}
