package org.opendedup.sar.disks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.FileRange;
import org.opendedup.sar.io.Output;

/** Ranges of a file whose space is given back: the file system has it again, and the other bytes stay. */
class ReleasedSpaceTest {
    private static final int MIB = 1 << 20;
    private static final long DISK_BYTES = 96 * MIB;
    /** The smallest xfs that its tools make is of 300 MiB. */
    private static final long LARGE_DISK_BYTES = 400 * MIB;
    /** Bound on what a file system uses for its own records during a check, and on rounding, in bytes. */
    private static final long TOLERANCE = MIB;

    private static final int PIECE_BYTES = 4 * MIB;
    private static final int PIECES = 8;
    private static final List<FileRange> RANGES = List.of(piece(1), piece(4), piece(5));
    private static final long RELEASED_BYTES = 3 * PIECE_BYTES;

    @TempDir
    Path folder;

    private static FileRange piece(int number) {
        return new FileRange((long) number * PIECE_BYTES, PIECE_BYTES);
    }

    @ParameterizedTest
    @CsvSource({"mkfs.ext4, 96", "mkfs.xfs, 400", "mkfs.btrfs, 400"})
    void itReturnsOnDisks(String mkfs, long mib) throws IOException {
        ScratchMount.image(folder, mkfs, mib * MIB, "loop", ReleasedSpaceTest::checkReturns);
    }

    @Test
    void itReturnsOnTmpfs() throws IOException {
        ScratchMount.tmpfs(folder, DISK_BYTES, ReleasedSpaceTest::checkReturns);
    }

    /** Each piece is forced, so that btrfs stores it as one of its own. */
    private static byte[] writePieces(Output output) throws IOException {
        byte[] bytes = Bytes.random(1, PIECES * PIECE_BYTES);
        for (int i = 0; i < PIECES; i++) {
            output.append(ByteBuffer.wrap(bytes, i * PIECE_BYTES, PIECE_BYTES));
            output.force();
        }
        return bytes;
    }

    private static void makeZeros(byte[] bytes, List<FileRange> ranges) {
        ranges.forEach(range -> Arrays.fill(bytes, (int) range.offset(), (int) range.end(), (byte) 0));
    }

    private static void checkReturns(Path place) throws IOException {
        Directory directory = FileDirectory.open(place);
        try (Output output = directory.create("file")) {
            byte[] bytes = writePieces(output);
            directory.trim("file"); // Xfs allocates more than is appended.
            long before = ScratchMount.usable(place);
            assertAllocated(bytes.length, directory);
            directory.trim("file");
            assertReturned(0, before, place);

            assertTrue(directory.release("file", RANGES));

            assertReturned(RELEASED_BYTES, before, place);
            assertAllocated(bytes.length - RELEASED_BYTES, directory);
            makeZeros(bytes, RANGES);
            Bytes.check(directory, "file", bytes);

            byte[] more = Bytes.random(2, PIECE_BYTES);
            assertEquals(bytes.length, output.append(ByteBuffer.wrap(more)));
            output.force();
            directory.trim("file");
            byte[] all = Arrays.copyOf(bytes, bytes.length + more.length);
            System.arraycopy(more, 0, all, bytes.length, more.length);
            Bytes.check(directory, "file", all);
            assertReturned(RELEASED_BYTES - more.length, before, place);
        }
    }

    private static void assertAllocated(long expected, Directory directory) throws IOException {
        long found = directory.allocatedBytes("file");
        assertTrue(Math.abs(found - expected) <= TOLERANCE, () -> found + " bytes are allocated, not " + expected);
    }

    /** As the interface says: the space of what was written or reserved at once returns with its last byte. */
    @Test
    void onBtrfsAPieceReturnsAsAWhole() throws IOException {
        ScratchMount.image(folder, "mkfs.btrfs", LARGE_DISK_BYTES, "loop", place -> {
            Directory directory = FileDirectory.open(place);
            for (boolean reserves : new boolean[] {false, true}) {
                String name = "file" + reserves;
                try (Output output = directory.create(name)) {
                    if (reserves) {
                        assertTrue(output.reserve(2 * PIECE_BYTES));
                    }
                    output.append(ByteBuffer.wrap(Bytes.random(1, PIECE_BYTES)));
                    if (reserves) {
                        output.force();
                    }
                    output.append(ByteBuffer.wrap(Bytes.random(2, PIECE_BYTES)));
                    output.force();
                }
                long before = ScratchMount.usable(place);
                assertTrue(directory.release(name, List.of(piece(0))));
                assertEquals(PIECE_BYTES, directory.allocatedBytes(name));
                assertReturned(0, before, place);
                assertTrue(directory.release(name, List.of(piece(1))));
                assertReturned(2 * PIECE_BYTES, before, place);
            }
        });
    }

    @Test
    void aFileOnAReadOnlyFileSystemIsNotChanged() throws IOException {
        try (LoopDisk disk = new LoopDisk(folder, DISK_BYTES)) {
            Directory directory = FileDirectory.open(disk.folder());
            byte[] bytes = Bytes.random(1, PIECE_BYTES);
            try (Output output = directory.create("file")) {
                output.append(ByteBuffer.wrap(bytes));
                output.force();
            }
            disk.makeReadOnly();
            List<FileRange> ranges = List.of(new FileRange(0, PIECE_BYTES));
            IOException refused = assertThrows(IOException.class, () -> directory.release("file", ranges));
            assertTrue(
                    refused.getMessage().contains(disk.folder().resolve("file").toString()), refused::getMessage);
            Bytes.check(directory, "file", bytes);
            disk.makeWritable();
            assertTrue(directory.release("file", ranges), "the control: it is writable again");
        }
    }

    /** A copy of the device is what a power cut at this time leaves. The control cuts a file and forces nothing. */
    @ParameterizedTest
    @CsvSource({"mkfs.ext4, 96, 'loop,commit=300'", "mkfs.xfs, 400, loop", "mkfs.btrfs, 400, 'loop,commit=300'"})
    void itIsDurable(String mkfs, long mib, String options) throws IOException {
        Path copy = folder.resolve("copy");
        byte[][] expected = new byte[1][];
        ScratchMount.image(folder, mkfs, mib * MIB, options, place -> {
            Directory directory = FileDirectory.open(place);
            try (Output output = directory.create("file");
                    Output control = directory.create("control");
                    FileChannel unforced = FileChannel.open(place.resolve("control"), StandardOpenOption.WRITE)) {
                expected[0] = writePieces(output);
                writePieces(control);
                directory.sync();
                ScratchMount.usable(place);
                assertTrue(directory.release("file", RANGES));
                unforced.truncate(PIECE_BYTES);
                Commands.succeed("cp", "--sparse=always", folder.resolve("image"), copy);
            }
        });
        Path left = Files.createDirectory(folder.resolve("left"));
        Commands.succeed("mount", "-o", "loop", copy, left);
        try {
            Directory directory = FileDirectory.open(left);
            Bytes.check(directory, "control", expected[0]);
            makeZeros(expected[0], RANGES);
            Bytes.check(directory, "file", expected[0]);
        } finally {
            Commands.run("umount", "-l", left);
        }
    }

    private static void assertReturned(long expected, long before, Path place) throws IOException {
        long returned = ScratchMount.usable(place) - before;
        assertTrue(Math.abs(returned - expected) <= TOLERANCE, () -> returned + " bytes returned, not " + expected);
    }
}
