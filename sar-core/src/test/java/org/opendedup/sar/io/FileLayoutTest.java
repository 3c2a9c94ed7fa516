package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;

class FileLayoutTest {
    private static final long KIB = 1024;

    /** Two pieces, the second one before the first on the device, with a hole between them in the file. */
    private final FileLayout pieces =
            new FileLayout(new long[] {0, 200 * KIB}, new long[] {9000 * KIB, 5000 * KIB}, 300 * KIB);

    @Test
    void tellsWhereBytesLieAndWhereTheirPieceEnds() {
        assertEquals(9000 * KIB, pieces.place(0));
        assertEquals(9000 * KIB + 7, pieces.place(7));
        assertEquals(200 * KIB, pieces.pieceEnd(7));
        assertEquals(5000 * KIB + 1, pieces.place(200 * KIB + 1));
        assertEquals(300 * KIB, pieces.pieceEnd(200 * KIB));
    }

    @Test
    void knowsNothingOfWhatLiesBehindIt() {
        assertEquals(-1, pieces.place(300 * KIB));
        assertEquals(Long.MAX_VALUE, pieces.pieceEnd(300 * KIB));
        assertEquals(-1, FileLayout.UNKNOWN.place(0));
        assertEquals(Long.MAX_VALUE, FileLayout.UNKNOWN.pieceEnd(0));
    }

    @Test
    void asksTheFileSystem(@TempDir Path folder) throws IOException {
        Directory directory = FileDirectory.open(folder);
        try (Output file = directory.create("file")) {
            file.append(ByteBuffer.allocate(1 << 20));
            file.force();
        }
        try (Input file = directory.open("file")) {
            FileLayout layout = file.layout(0, Long.MAX_VALUE);
            assumeKnown(layout, folder);
            for (long at = 0; at < 1 << 20; at = layout.pieceEnd(at)) {
                assertTrue(layout.place(at) >= 0, "byte " + at);
                assertTrue(layout.pieceEnd(at) > at, "byte " + at);
            }
        }
    }

    /** A file of several pieces with holes between them: each range is cut where it begins and ends. */
    @Test
    void rangesAreCutFromTheirPieces(@TempDir Path folder) throws IOException {
        int piece = 1 << 16;
        int pieces = 10;
        int bytes = 2 * pieces * piece;
        try (FileChannel sparse =
                FileChannel.open(folder.resolve("file"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            for (int i = 0; i < pieces; i++) {
                sparse.write(ByteBuffer.allocate(piece), (2L * i + 1) * piece);
            }
            sparse.force(true);
        }
        long seed = TestSeed.next();
        Random random = new Random(seed);
        try (Input file = FileDirectory.open(folder).open("file")) {
            FileLayout whole = file.layout(0, Long.MAX_VALUE);
            assumeKnown(whole, folder);
            assertEquals(-1, file.layout(0, piece).place(0), "a hole");
            for (int i = 0; i < 200; i++) {
                long offset = random.nextInt(bytes);
                long length = 1 + random.nextInt(3 * piece);
                FileLayout range = file.layout(offset, length);
                for (int j = 0; j < 20; j++) {
                    long at = random.nextInt(3 * piece);
                    boolean isIn = at < length && offset + at < bytes && (offset + at) / piece % 2 == 1;
                    assertEquals(isIn ? whole.place(offset + at) : -1, range.place(at), "sar.seed=" + seed);
                    assertTrue(!isIn || range.place(at) >= 0, "sar.seed=" + seed);
                }
            }
        }
    }

    /** Where bytes will lie is known when the space for them is reserved, and an open file reports its growth. */
    @Test
    void reservedSpaceHasThePlacesOfTheBytesThatFillIt(@TempDir Path folder) throws IOException {
        Directory directory = FileDirectory.open(folder);
        try (Output output = directory.create("file");
                Input input = directory.open("file")) {
            assertEquals(-1, input.layout(0, KIB).place(0));
            assumeTrue(output.reserve(1 << 20), "no space can be reserved here");
            FileLayout reserved = input.layout(0, 1 << 20);
            assumeKnown(reserved, folder);
            output.append(ByteBuffer.allocate(1 << 20));
            output.force();
            FileLayout written = input.layout(0, 1 << 20);
            for (long at = 0; at < 1 << 20; at += 64 * KIB) {
                assertTrue(reserved.place(at) >= 0, "byte " + at);
                assertEquals(reserved.place(at), written.place(at), "byte " + at);
            }
        }
    }

    /** Not every file system reports its layout: tmpfs does not. */
    private static void assumeKnown(FileLayout layout, Path folder) throws IOException {
        assumeTrue(
                layout != FileLayout.UNKNOWN,
                "no places on " + Files.getFileStore(folder).type());
    }

    @Test
    void ofAFileThatIsGoneNothingIsKnown(@TempDir Path folder) {
        assertEquals(FileLayout.UNKNOWN, FileLayout.of(folder.resolve("none")));
    }
}
