package org.opendedup.sar.volume.config;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.PrivateFiles;

/**
 * Until when any snapshot of a volume is held, in a file beside the metadata: for commands that remove an unmounted
 * volume and cannot open its metadata, which may be encrypted. The records of the snapshots are the truth.
 */
public final class HeldUntil {
    /** The name of the file in the folder of the metadata. */
    public static final String NAME = "HELD_UNTIL";

    private HeldUntil() {}

    /** Notes a time, unless a later one is noted. Durable when it returns. */
    public static void note(Path metadata, long untilMs) throws IOException {
        if (untilMs > of(metadata)) {
            PrivateFiles.createFolders(metadata);
            write(metadata, untilMs);
        }
    }

    /** Takes back what was noted for a snapshot that was not made: sets the time that was noted before. */
    public static void restore(Path metadata, long beforeMs) throws IOException {
        if (beforeMs < of(metadata)) {
            write(metadata, beforeMs);
        }
    }

    private static void write(Path metadata, long untilMs) throws IOException {
        AtomicFile.write(metadata.resolve(NAME), (untilMs + "\n").getBytes(US_ASCII));
    }

    /**
     * Returns until when the volume must not be removed, in milliseconds since 1970; 0 if nothing is held.
     *
     * @param metadata folder of the metadata
     * @throws IOException if the file is there, and cannot be read
     */
    public static long of(Path metadata) throws IOException {
        Path file = metadata.resolve(NAME);
        try {
            return Long.parseLong(Files.readString(file, US_ASCII).strip());
        } catch (NoSuchFileException e) {
            return 0;
        } catch (NumberFormatException e) {
            throw new IOException(file + " does not have a time in milliseconds", e);
        }
    }
}
