package org.opendedup.sar.metadata;

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
 * A small file in the database's folder, {@value #NAME}: how long the manifest was when a database was opened or
 * closed, after its records were synced. A manifest that is shorter has lost records, and RocksDB would open the
 * database without the tables that they name. A missing or damaged file is ignored.
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
        String found;
        try {
            found = Files.readString(folder.resolve(NAME), StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            return;
        }
        String[] words = found.strip().split(" ");
        if (words.length != 5 || !found.equals(text(words[2], words[3]))) {
            log.warn("{} is damaged and is rebuilt; whether the manifest is complete was not checked", NAME);
            return;
        }
        if (words[2].equals(LogTail.manifestName(folder)) && intact < Long.parseLong(words[3])) {
            throw new CorruptionException(
                    folder.resolve(words[2]).toString(),
                    intact,
                    "records up to byte " + words[3] + ", which were synced",
                    "none; check the disk, and restore the folder from its last backup");
        }
    }

    /**
     * Syncs the manifest and records its length. A failure is logged and has no other effect: the older length, of this
     * manifest or of another one, stays valid.
     */
    static void record(Path folder) {
        try {
            String name = LogTail.manifestName(folder);
            long length;
            try (FileChannel manifest = FileChannel.open(folder.resolve(name), StandardOpenOption.WRITE)) {
                length = manifest.size();
                manifest.force(true);
            }
            PrivateFiles.write(
                    folder.resolve(NAME), text(name, Long.toString(length)).getBytes(StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            log.warn("{} cannot be written ({}): damage of the manifest may go unnoticed", NAME, e.getMessage());
        }
    }

    private static String text(String manifest, String length) {
        String line = MAGIC + " " + manifest + " " + length;
        CRC32C crc = new CRC32C();
        crc.update(line.getBytes(StandardCharsets.ISO_8859_1));
        return line + String.format(" %08x\n", crc.getValue());
    }
}
