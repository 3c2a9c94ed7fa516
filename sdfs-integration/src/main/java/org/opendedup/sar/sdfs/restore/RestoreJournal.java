package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.io.InputStream;
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
 * Progress of a restore in a small file in the work folder, replaced as a whole at each milestone. Its lines are
 * {@code sdfs-restore 3}, the fields of {@link State} each with its name, and the CRC-32C of all that.
 */
final class RestoreJournal {
    private static final String MAGIC = "sdfs-restore ";
    private static final int VERSION = 3;
    private static final String FORMAT = MAGIC
            + "%d\nvolume %s\nsource %s\ntree %s\ncontents %s\nroot %d\n"
            + "nextContainer %d\nbytes %d\ndamaged %d\nlost %d\nmissing %d\nonlyRootLeft %b\n";
    private static final int LINES = 13;
    /** Largest journal in bytes; the longest possible path uses an eighth of this. */
    private static final int MAX_BYTES = 1 << 20;

    private final Path file;
    private final String shown;

    /** @param shown the file's path for messages */
    RestoreJournal(Path file, String shown) {
        this.file = file;
        this.shown = shown;
    }

    /**
     * What the journal records.
     *
     * @param volume its UUID
     * @param source path from the volume's root, as hexadecimal digits of its UTF-8
     * @param tree digest of what is made of the tree's entries, likewise; empty while the tree is walked
     * @param contents digest of the lengths and references of its files, likewise; also empty from the time on when a
     *     resumed restore makes a file again or replaces bytes of one
     * @param root inode number that the destination's root has in its file system; 0 while the tree is walked
     * @param nextContainer chunks of lower containers are written and durable
     * @param bytes size of these chunks in bytes
     * @param damaged number of places that could not be filled
     * @param lost number of entries and attributes that the destination refused, and of files of several moments; known
     *     when only the root is left
     * @param missing number of files and folders that are not there, or not with their newest bytes; likewise
     * @param onlyRootLeft whether all is done except the owner, mode, attributes and times of the tree's root
     */
    record State(
            String volume,
            String source,
            String tree,
            String contents,
            long root,
            long nextContainer,
            long bytes,
            long damaged,
            long lost,
            long missing,
            boolean onlyRootLeft) {
        static State begin(String volume, String source) {
            return new State(
                    volume,
                    HexFormat.of().formatHex(source.getBytes(StandardCharsets.UTF_8)),
                    "",
                    "",
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    false);
        }

        /** Returns the state after all files were found and made: with the digests and the root's inode. */
        State made(String newTree, String newContents, long newRoot, long newDamaged) {
            return new State(volume, source, newTree, newContents, newRoot, 0, 0, newDamaged, 0, 0, false);
        }

        /** Returns the state after the chunks of lower containers are written. */
        State reached(long container, long newBytes, long newDamaged) {
            return new State(
                    volume, source, tree, contents, root, container, newBytes, newDamaged, lost, missing, onlyRootLeft);
        }

        /** Returns the state after everything except the root's own attributes. */
        State withOnlyRootLeft(long newLost, long newMissing) {
            return new State(
                    volume, source, tree, contents, root, nextContainer, bytes, damaged, newLost, newMissing, true);
        }

        /** Returns the state in which all bytes have to be written again, to the files that were made. */
        State withoutContents() {
            return new State(volume, source, tree, "", root, 0, 0, 0, 0, 0, false);
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
                state.contents,
                state.root,
                state.nextContainer,
                state.bytes,
                state.damaged,
                state.lost,
                state.missing,
                state.onlyRootLeft);
        AtomicFile.write(file, (text + "crc " + crc(text) + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the last state that was written; empty if there is no journal. */
    Optional<State> read() throws IOException {
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(MAX_BYTES + 1);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        if (bytes.length > MAX_BYTES) {
            throw new CorruptionException(shown, -1, "a restore's journal", "more than " + MAX_BYTES + " bytes");
        }
        String text = new String(bytes, StandardCharsets.UTF_8);
        if (text.startsWith(MAGIC) && !text.startsWith(MAGIC + VERSION + "\n")) {
            throw new IOException(shown + " was written by another version of this program");
        }
        String[] lines = text.split("\n", -1);
        int end = text.lastIndexOf("crc ");
        if (lines.length != LINES + 1 || end < 0 || !lines[LINES - 1].equals("crc " + crc(text.substring(0, end)))) {
            throw new CorruptionException(shown, -1, "a restore's journal", "other lines");
        }
        return Optional.of(new State(
                value("volume", lines[1]),
                value("source", lines[2]),
                value("tree", lines[3]),
                value("contents", lines[4]),
                number("root", lines[5]),
                number("nextContainer", lines[6]),
                number("bytes", lines[7]),
                number("damaged", lines[8]),
                number("lost", lines[9]),
                number("missing", lines[10]),
                truth("onlyRootLeft", lines[11])));
    }

    private String value(String name, String line) throws CorruptionException {
        if (!line.startsWith(name + " ")) {
            throw new CorruptionException(shown, -1, "the line '" + name + "'", "'" + line + "'");
        }
        return line.substring(name.length() + 1);
    }

    private long number(String name, String line) throws CorruptionException {
        try {
            return Long.parseLong(value(name, line));
        } catch (NumberFormatException e) {
            CorruptionException damage = new CorruptionException(shown, -1, "a number", "'" + line + "'");
            damage.initCause(e);
            throw damage;
        }
    }

    private boolean truth(String name, String line) throws CorruptionException {
        return switch (value(name, line)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new CorruptionException(shown, -1, "true or false", "'" + line + "'");
        };
    }

    private static String crc(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(StandardCharsets.UTF_8));
        return Long.toHexString(crc.getValue());
    }
}
