package org.opendedup.sar.disks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.io.Ballast;

/** A ballast occupies its space on any file system, and releases it. */
class BallastTest {
    private static final long DISK_BYTES = 64L << 20;
    private static final long BALLAST_BYTES = 8L << 20;

    @TempDir
    Path folder;

    @Test
    void itTakesUpSpaceOnExt4() throws IOException {
        try (LoopDisk disk = new LoopDisk(folder, DISK_BYTES)) {
            checkTakesUpSpace(disk.folder());
        }
    }

    /** This file system does not report where files lie, so the ballast is filled. */
    @Test
    void itTakesUpSpaceOnTmpfs() throws IOException {
        ScratchMount.tmpfs(folder, DISK_BYTES, BallastTest::checkTakesUpSpace);
    }

    /** This file system has no fallocate, and would store zeros without using space. */
    @Test
    void itTakesUpSpaceWhereFilesAreCompressed() throws IOException {
        ScratchMount.image(
                folder, "mkfs.btrfs", 4 * DISK_BYTES, "loop,compress-force=zstd", BallastTest::checkTakesUpSpace);
    }

    private static void checkTakesUpSpace(Path place) throws IOException {
        Ballast ballast = new Ballast(place, BALLAST_BYTES);
        long before = ScratchMount.usable(place);
        assertFalse(ballast.exists());
        ballast.make();
        assertTrue(ballast.exists());
        Path file = place.resolve(Ballast.NAME);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertTrue(blocks(file) * 512 >= BALLAST_BYTES, "it has not the blocks for its bytes");
        long taken = before - ScratchMount.usable(place);
        assertTrue(taken >= BALLAST_BYTES * 9 / 10, () -> "it takes up " + taken + " bytes");

        assertTrue(ballast.free());
        assertFalse(ballast.free());
        Commands.succeed("sync", "-f", place);
        assertTrue(before - ScratchMount.usable(place) < BALLAST_BYTES / 2, "its space is not free again");

        // A ballast that finds no space leaves no file.
        assertThrows(IOException.class, () -> new Ballast(place, 10 * DISK_BYTES).make());
        try (Stream<Path> left = Files.list(place)) {
            assertEquals(
                    List.of(),
                    left.filter(path -> path.toString().contains(Ballast.NAME)).toList());
        }
    }

    private static long blocks(Path file) throws IOException {
        return Long.parseLong(Commands.succeed("stat", "-c", "%b", file).strip());
    }
}
