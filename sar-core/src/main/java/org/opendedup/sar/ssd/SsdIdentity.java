package org.opendedup.sar.ssd;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.io.AtomicFile;

/**
 * The file at an SSD location that names the volume it serves, so that chunks of one volume are never used for another,
 * and files of others are not touched. One readable line: {@code SAR-SSD version volume crc}.
 */
final class SsdIdentity {
    private static final String MAGIC = "SAR-SSD";
    private static final int VERSION = 1;
    private static final int MOST_BYTES = 256;
    private static final Set<String> OWN =
            Set.of("lost+found", LocationFiles.LOCK, LocationFiles.SEGMENTS, LocationFiles.MAP, LocationFiles.RAW);
    private static final Pattern LINE = Pattern.compile("(" + MAGIC + " (\\d{1,9}) ([0-9a-f-]{36})) ([0-9a-f]{8})\n");

    private SsdIdentity() {}

    /**
     * Checks that a folder belongs to the volume; claims it if it is empty.
     *
     * @throws IOException if it belongs to another volume, its identity is damaged, or there are other files; nothing
     *     was touched
     */
    static void claim(Path location, UUID volume) throws IOException {
        Path file = location.resolve(LocationFiles.IDENTITY);
        if (Files.exists(file)) {
            check(file, volume);
        } else {
            requireEmpty(location);
            AtomicFile.write(file, text(volume).getBytes(US_ASCII));
        }
    }

    /**
     * Checks before a write that a claimed folder is still the claimed one: neither emptied, nor the bare mount point
     * of its disk.
     */
    static void requireClaimed(Path location) throws IOException {
        Path file = location.resolve(LocationFiles.IDENTITY);
        try {
            Files.getLastModifiedTime(file);
        } catch (NoSuchFileException e) {
            throw new IOException(file + " is gone: the folder was emptied, or its disk is not mounted any more", e);
        }
    }

    static String text(UUID volume) {
        String line = MAGIC + " " + VERSION + " " + volume;
        return line + " " + crc(line) + "\n";
    }

    private static String crc(String line) {
        CRC32C crc = new CRC32C();
        crc.update(line.getBytes(US_ASCII));
        return String.format(Locale.ROOT, "%08x", crc.getValue());
    }

    private static void check(Path file, UUID volume) throws IOException {
        String text = Files.size(file) > MOST_BYTES ? "" : new String(Files.readAllBytes(file), US_ASCII);
        Matcher line = LINE.matcher(text);
        if (!line.matches() || !crc(line.group(1)).equals(line.group(4))) {
            throw new CorruptionException(
                    file.toString(),
                    0,
                    "the identity of an SSD location",
                    "something else; delete this file, and the folders " + LocationFiles.SEGMENTS + " and "
                            + LocationFiles.MAP + " beside it, to start again: the volume has everything that is in"
                            + " them");
        }
        int version = Integer.parseInt(line.group(2));
        if (version != VERSION) {
            throw new UnsupportedFormatException(file.toString(), version, VERSION);
        }
        if (!line.group(3).equals(volume.toString())) {
            throw new IOException(
                    "the SSD location " + file.getParent() + " belongs to volume " + line.group(3) + ", not to volume "
                            + volume + "; choose another folder, or empty it if that volume is not needed");
        }
    }

    /**
     * Checks that the folder is empty. Ignores what a new file system has, leftovers of a crash while the identity was
     * written, and the store's own folders: those of a folder that was wiped while in use. Each segment file names its
     * volume.
     */
    private static void requireEmpty(Path location) throws IOException {
        for (Path entry : FolderEntries.of(location)) {
            String name = entry.getFileName().toString();
            if (!OWN.contains(name) && !name.startsWith(LocationFiles.IDENTITY + ".")) {
                throw new IOException("the SSD location " + location + " has no " + LocationFiles.IDENTITY
                        + ", but it has " + name + "; an empty folder is needed");
            }
        }
    }
}
