package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.AtomicFile;

/**
 * Progress of a restore in a small file in the work folder, replaced as a whole at each milestone. Its lines are
 * {@code sdfs-restore 3}, the fields of {@link State} each with its name, and the CRC-32C of all that.
 *
 * @param shown the file's path for messages
 */
record RestoreJournal(Path file, String shown) {
    private static final String MAGIC = "sdfs-restore ";
    private static final int VERSION = 3;
    private static final String FORMAT = MAGIC
            + "%d\nvolume %s\nsource %s\ntree %s\ncontents %s\nroot %d\n"
            + "nextContainer %d\nbytes %d\ndamaged %d\nlost %d\nmissing %d\nonlyRootLeft %b\n";
    /** The lines of {@link #FORMAT}, and the checksum of all that. */
    private static final Pattern LINES = Pattern.compile("(" + MAGIC + VERSION
            + "\nvolume (.*)\nsource (.*)\ntree (.*)\ncontents (.*)\nroot (-?\\d+)\n"
            + "nextContainer (-?\\d+)\nbytes (-?\\d+)\n"
            + "damaged (-?\\d+)\nlost (-?\\d+)\nmissing (-?\\d+)\nonlyRootLeft (true|false)\n)crc ([0-9a-f]+)\n");
    /** Largest journal in bytes; the longest possible path uses an eighth of this. */
    private static final int MAX_BYTES = 1 << 20;

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
        Matcher lines = LINES.matcher(text);
        if (!lines.matches() || !lines.group(13).equals(crc(lines.group(1)))) {
            throw new CorruptionException(shown, -1, "a restore's journal", "other lines");
        }
        try {
            return Optional.of(new State(
                    lines.group(2),
                    lines.group(3),
                    lines.group(4),
                    lines.group(5),
                    Long.parseLong(lines.group(6)),
                    Long.parseLong(lines.group(7)),
                    Long.parseLong(lines.group(8)),
                    Long.parseLong(lines.group(9)),
                    Long.parseLong(lines.group(10)),
                    Long.parseLong(lines.group(11)),
                    Boolean.parseBoolean(lines.group(12))));
        } catch (NumberFormatException e) {
            throw new CorruptionException(shown, -1, "numbers of 64 bits", String.valueOf(e.getMessage()));
        }
    }

    private static String crc(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(StandardCharsets.UTF_8));
        return Long.toHexString(crc.getValue());
    }
}
