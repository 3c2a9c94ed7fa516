package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
            FileLayout layout = file.layout();
            // Not every file system reports its layout: tmpfs does not.
            assumeTrue(
                    layout != FileLayout.UNKNOWN,
                    "no places on " + Files.getFileStore(folder).type());
            for (long at = 0; at < 1 << 20; at = layout.pieceEnd(at)) {
                assertTrue(layout.place(at) >= 0, "byte " + at);
                assertTrue(layout.pieceEnd(at) > at, "byte " + at);
            }
        }
    }

    @Test
    void ofAFileThatIsGoneNothingIsKnown(@TempDir Path folder) {
        assertEquals(FileLayout.UNKNOWN, FileLayout.of(folder.resolve("none")));
    }
}
