package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.AtomicFile;

/**
 * How far a restore has come: a small file beside the destination, replaced as a whole at each milestone. Its lines are {@code
 * sdfs-restore 1}, the fields of {@link State} each with its name, and the CRC-32C of all that.
 */
final class RestoreJournal {
    private static final String MAGIC = "sdfs-restore ";
    private static final int VERSION = 1;
    private static final String FORMAT =
            MAGIC + "%d\nvolume %s\nsource %s\ntree %s\nnextContainer %d\nbytes %d\ndamaged %d\n";
    private static final int LINES = 8;

    private final Path file;

    RestoreJournal(Path file) {
        this.file = file;
    }

    /**
     * @param volume its UUID
     * @param source path from the volume's root, as hexadecimal digits of its UTF-8
     * @param tree digest of the tree's entries, likewise; empty while the tree is walked
     * @param nextContainer chunks of lower containers are written and durable
     * @param bytes bytes of these
     * @param damaged places that could not be filled
     */
    record State(String volume, String source, String tree, long nextContainer, long bytes, long damaged) {
        static State begin(String volume, String source) {
            return new State(volume, HexFormat.of().formatHex(source.getBytes(StandardCharsets.UTF_8)), "", 0, 0, 0);
        }

        boolean isOfSame(State other) {
            return volume.equals(other.volume) && source.equals(other.source);
        }
    }

    void write(State state) throws IOException {
        String text = String.format(
                FORMAT,
                VERSION,
                state.volume,
                state.source,
                state.tree,
                state.nextContainer,
                state.bytes,
                state.damaged);
        AtomicFile.write(file, (text + "crc " + crc(text) + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** What was written last; empty if there is no journal. */
    Optional<State> read() throws IOException {
        String text;
        try {
            text = Files.readString(file);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        if (text.startsWith(MAGIC) && !text.startsWith(MAGIC + VERSION + "\n")) {
            throw new IOException(file + " was written by another version of this program");
        }
        String[] lines = text.split("\n", -1);
        int end = text.lastIndexOf("crc ");
        if (lines.length != LINES + 1 || end < 0 || !lines[LINES - 1].equals("crc " + crc(text.substring(0, end)))) {
            throw new CorruptionException(file.toString(), -1, "a restore's journal", "other lines");
        }
        return Optional.of(new State(
                value(lines[1]),
                value(lines[2]),
                value(lines[3]),
                Long.parseLong(value(lines[4])),
                Long.parseLong(value(lines[5])),
                Long.parseLong(value(lines[6]))));
    }

    private static String value(String line) {
        return line.substring(line.indexOf(' ') + 1);
    }

    private static String crc(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(StandardCharsets.UTF_8));
        return Long.toHexString(crc.getValue());
    }
}
