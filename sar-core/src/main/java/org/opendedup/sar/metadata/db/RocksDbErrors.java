package org.opendedup.sar.metadata.db;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.SystemError;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** Translates failures of RocksDB into exceptions that distinguish a full disk, damage and other I/O errors. */
public final class RocksDbErrors {
    /** What an administrator does about damage. */
    static final String REMEDY = "check the disk; then mend it with 'sdfs-check VOLUME --salvage-metadata', which loses"
            + " nothing if a backup has the damaged tables, or bring the last backup back with"
            + " 'sdfs-check VOLUME --restore-metadata'";

    private RocksDbErrors() {}

    /** Returns a message without the remedy. */
    static String withoutRemedy(String message) {
        return message.replace("; " + REMEDY, "");
    }

    /** Returns the name of a database, for messages. */
    public static String place(Path folder) {
        return "metadata database in " + folder;
    }

    /** Returns the exception for a folder without a database. */
    static CorruptionException missing(Path folder) {
        return new CorruptionException(
                place(folder),
                -1,
                "a database",
                "none; is its disk mounted? If the database is lost, bring the newest backup back with"
                        + " 'sdfs-check VOLUME --restore-metadata'");
    }

    /** Returns the exception that a failure of RocksDB means for the database in {@code folder}. */
    static IOException translate(Path folder, RocksDBException e) {
        return translate(folder, String.valueOf(e.getMessage()), e);
    }

    /** Translates as above, with a message in place of RocksDB's. */
    static IOException translate(Path folder, @Nullable String message, RocksDBException e) {
        Status status = e.getStatus();
        // Errors during the opening of a database are recognized only by their message.
        boolean noSpace =
                status != null && status.getSubCode() == Status.SubCode.NoSpace || SystemError.isFullIn(message);
        if (noSpace) {
            return withCause(new NoSpaceException(place(folder) + ": the disk is full (" + message + ")"), e);
        }
        if (status != null && status.getCode() == Status.Code.Corruption) {
            return withCause(
                    new CorruptionException(place(folder), -1, "an intact database", message + "; " + REMEDY), e);
        }
        return new IOException(place(folder) + ": " + message, e);
    }

    private static IOException withCause(IOException exception, Throwable cause) {
        exception.initCause(cause);
        return exception;
    }
}
