package org.opendedup.sar.volume.config;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;

/**
 * The file at the data location that identifies its volume and the epoch in which it was last used. The mount point of
 * a disk exists, as an empty folder, even if the disk is not mounted. This file distinguishes the two cases. It also
 * distinguishes the disks of different volumes, and a disk restored from a backup from the one that was in use. It has
 * one line: {@code volume epoch token}, and the number of the location if it was added to the volume.
 */
public final class VolumeIdentity {
    /** Name of the file. */
    public static final String NAME = "volume.id";

    /** Number of the location that a volume is made with. */
    public static final long FIRST = 0;

    private static final int MOST_BYTES = 128;

    /**
     * Reserved for the file. Btrfs puts a short file among its own records otherwise, which the kernel has in memory: a
     * read of it would not show whether the disk answers.
     */
    private static final int BLOCK_BYTES = 4096;

    private static final Pattern LINE =
            Pattern.compile("([0-9a-f-]{36}) (\\d{1,18}) ([0-9a-f]{16})(?: ([0-9a-f]{16}))?\n");

    private VolumeIdentity() {}

    /** Writes the file, and replaces an existing one, whose number it keeps; durable when it returns. */
    public static void write(Directory data, Epoch epoch) throws IOException {
        write(data, epoch, location(data));
    }

    /** As above, with the number of the location. */
    public static void write(Directory data, Epoch epoch, long location) throws IOException {
        String number = location == FIRST ? "" : String.format(Locale.ROOT, " %016x", location);
        String line =
                String.format(Locale.ROOT, "%s %d %016x%s\n", epoch.volume(), epoch.number(), epoch.token(), number);
        AtomicFile.write(data, NAME, ByteBuffer.wrap(line.getBytes(US_ASCII)), BLOCK_BYTES);
    }

    /**
     * Reads the epoch in which the data were last used.
     *
     * @throws IOException if this is not the data of {@code volume}; nothing was changed
     */
    public static Epoch read(Directory data, UUID volume) throws IOException {
        if (!data.exists(NAME)) {
            throw new IOException(
                    "there is no volume's data in " + data + " (no file " + NAME + "); is its disk not mounted?");
        }
        Matcher line = LINE.matcher(text(data));
        if (!line.matches()) {
            throw new CorruptionException(data + "/" + NAME, 0, "a volume, its epoch and a token", "something else");
        }
        if (!line.group(1).equals(volume.toString())) {
            throw new IOException("the data in " + data + " belongs to volume " + line.group(1)
                    + ", the metadata to volume " + volume);
        }
        return new Epoch(volume, Long.parseLong(line.group(2)), Long.parseUnsignedLong(line.group(3), 16));
    }

    /** Returns the volume whose data these are; null if they do not say. */
    public static @Nullable UUID volume(Directory data) throws IOException {
        if (!data.exists(NAME)) {
            return null;
        }
        Matcher line = LINE.matcher(text(data));
        return line.matches() ? UUID.fromString(line.group(1)) : null;
    }

    /** Returns the number of the location; {@link #FIRST} if the file has none, or is not there. */
    public static long location(Directory data) throws IOException {
        if (!data.exists(NAME)) {
            return FIRST;
        }
        Matcher line = LINE.matcher(text(data));
        String number = line.matches() ? line.group(4) : null;
        return number == null ? FIRST : Long.parseUnsignedLong(number, 16);
    }

    private static String text(Directory data) throws IOException {
        try (Input file = data.open(NAME)) {
            if (file.length() > MOST_BYTES) {
                return "";
            }
            byte[] text = new byte[(int) file.length()];
            file.readFully(0, ByteBuffer.wrap(text));
            return new String(text, US_ASCII);
        }
    }
}
