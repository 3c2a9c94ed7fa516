package org.opendedup.sar.metadata.db;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.PrivateFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small file in the database's folder, {@value #NAME}: how many bytes of the manifest could be read when a database
 * was opened or closed, after they were synced. A manifest of which less can be read has lost records, and RocksDB
 * would open the database without the tables that they name. A missing or damaged file is ignored.
 *
 * <p>The file's length would be wrong: on a full disk, RocksDB may append a part of a record, which the next opening
 * cuts off.
 */
final class SyncedManifest {
    static final String NAME = "MANIFEST_SYNCED";

    private static final Logger log = LoggerFactory.getLogger(SyncedManifest.class);
    private static final String MAGIC = "SARM 1";

    private SyncedManifest() {}

    /**
     * Fails if the manifest in use has lost synced records.
     *
     * @param intact bytes of the manifest that can be read
     * @throws CorruptionException if there were more when the file was written
     */
    static void requireIn(Path folder, long intact) throws IOException {
        String name = LogTail.manifestName(folder);
        long recorded = recorded(folder, name);
        if (intact < recorded) {
            throw new CorruptionException(
                    folder.resolve(name).toString(),
                    intact,
                    "records up to byte " + recorded + ", which were synced",
                    "none; " + RocksDbErrors.REMEDY);
        }
    }

    /** Returns the length that is recorded for a manifest; 0 if none is. */
    private static long recorded(Path folder, String manifest) throws IOException {
        String found;
        try {
            found = Files.readString(folder.resolve(NAME), StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            return 0;
        }
        String[] words = found.strip().split(" ");
        if (words.length != 5 || !found.equals(text(words[2], words[3])) || !isLength(words[3])) {
            log.warn("{} is damaged and is rebuilt; whether the manifest is complete was not checked", NAME);
            return 0;
        }
        return words[2].equals(manifest) ? Long.parseLong(words[3]) : 0;
    }

    private static boolean isLength(String word) {
        try {
            return Long.parseLong(word) >= 0;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    /**
     * Syncs the manifest and records how many bytes of it can be read; never fewer than are recorded for it, because
     * those were synced. A failure is logged and has no other effect: the older length, of this manifest or of another
     * one, stays valid.
     */
    static void record(Path folder) {
        try {
            String name = LogTail.manifestName(folder);
            long intact = LogTail.ofManifest(folder).intactBytes();
            try (FileChannel manifest = FileChannel.open(folder.resolve(name), StandardOpenOption.WRITE)) {
                manifest.force(true);
            }
            write(folder, name, Math.max(intact, recorded(folder, name)));
        } catch (IOException e) {
            log.warn("{} cannot be written ({}): damage of the manifest may go unnoticed", NAME, e.getMessage());
        }
    }

    static void write(Path folder, String manifest, long length) throws IOException {
        PrivateFiles.write(
                folder.resolve(NAME), text(manifest, Long.toString(length)).getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String text(String manifest, String length) {
        String line = MAGIC + " " + manifest + " " + length;
        CRC32C crc = new CRC32C();
        crc.update(line.getBytes(StandardCharsets.ISO_8859_1));
        return line + String.format(" %08x\n", crc.getValue());
    }
}
