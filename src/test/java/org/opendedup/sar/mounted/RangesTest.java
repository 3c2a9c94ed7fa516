package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** fallocate, holes, copy_file_range and very long files through one mount. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RangesTest {
    private static final int MIB = 1 << 20;
    private static final long TIB = 1L << 40;

    private MountedVolume volume;
    /** A folder in the mount for each test. */
    private Path in;

    @BeforeAll
    void mount(@TempDir Path folder) throws IOException {
        volume = MountedVolume.makeWithCapacity(Files.createDirectory(folder.resolve("ranges")), "64TB")
                .mount();
    }

    /** Whatever the tests did, counts are exact at the end. */
    @AfterAll
    void unmount() throws IOException {
        if (volume != null) {
            volume.unmount();
            List<String> problems = Recount.problems(volume);
            volume.close();
            assertEquals(List.of(), problems);
        }
    }

    @BeforeEach
    void ownFolder(TestInfo test) throws IOException {
        in = Files.createDirectory(
                volume.mountPoint().resolve(test.getTestMethod().orElseThrow().getName()));
    }

    @Test
    void punchedAndZeroedRangesReadAsZerosNowAndAfterARemount() throws IOException {
        byte[] expected = Bytes.random(1, 3 * MIB + 17);
        Path file = Files.write(in.resolve("file"), expected);
        try (Syscalls open = Syscalls.open(file)) {
            assertEquals(0, open.allocate(Syscalls.PUNCH_HOLE | Syscalls.KEEP_SIZE, 1000, MIB));
            Arrays.fill(expected, 1000, 1000 + MIB, (byte) 0);
            assertArrayEquals(expected, Files.readAllBytes(file));
            assertEquals(0, open.allocate(Syscalls.ZERO_RANGE, 3 * MIB, MIB));
            expected = Arrays.copyOf(Arrays.copyOf(expected, 3 * MIB), 4 * MIB);
            assertEquals(0, open.allocate(Syscalls.ZERO_RANGE | Syscalls.KEEP_SIZE, 4 * MIB, MIB));
            assertEquals(0, open.allocate(Syscalls.KEEP_SIZE, 0, 9 * MIB));
            assertEquals(4 * MIB, Files.size(file));
            assertEquals(0, open.allocate(0, 0, 5 * MIB + 3));
            expected = Arrays.copyOf(expected, 5 * MIB + 3);
            assertEquals(-Syscalls.EOPNOTSUPP, open.allocate(Syscalls.COLLAPSE_RANGE, 0, 4096));
        }
        assertArrayEquals(expected, Files.readAllBytes(file));
        volume.remount();
        assertArrayEquals(expected, Files.readAllBytes(file));
    }

    @Test
    void dataThatTheKernelHasNotSentYetIsNoHole() throws IOException {
        try (Syscalls open = Syscalls.open(in.resolve("file"))) {
            assertEquals(0, open.allocate(0, 0, 8 * MIB));
            assertEquals(-Syscalls.ENXIO, open.seekData(0));
            open.write(5 * MIB, Bytes.random(2, 4096));
            assertEquals(5 * MIB, open.seekData(0));
            open.write(9 * MIB, Bytes.random(3, 100));
            assertEquals(9 * MIB, open.seekData(6 * MIB));
            assertEquals(9 * MIB + 100, open.seekHole(9 * MIB + 50));
            assertEquals(0, open.seekHole(0));
            assertEquals(-Syscalls.ENXIO, open.seekData(9 * MIB + 100));
        }
    }

    @Test
    void aCopyMovesNoDataAndReplacesWhatTheKernelHadCached() throws IOException {
        byte[] data = Bytes.random(4, 5 * MIB + 123);
        Path source = Files.write(in.resolve("source"), data);
        Path target = Files.write(in.resolve("target"), Bytes.random(5, MIB));
        assertEquals(MIB, Files.readAllBytes(target).length);
        long unique = -1;
        for (long shift : new long[] {0, 7, 300_000}) {
            try (Syscalls from = Syscalls.open(source);
                    Syscalls to = Syscalls.open(target)) {
                assertEquals(data.length, from.copy(0, to, shift, Long.MAX_VALUE));
            }
            byte[] copied = Files.readAllBytes(target);
            assertArrayEquals(data, Arrays.copyOfRange(copied, (int) shift, (int) shift + data.length));
            Commands.succeed("sync", "-f", volume.mountPoint());
            long now = volume.figure("stats", "uniqueBytes");
            assertTrue(unique < 0 || unique == now, "copied to " + shift);
            unique = now;
        }
        Commands.succeed("cp", "--reflink=auto", source, in.resolve("cp"));
        Commands.succeed("cmp", source, in.resolve("cp"));
    }

    @Test
    void aFileOfSixteenTebibytesIsWrittenReadCopiedAndCut() throws IOException {
        long end = 16 * TIB - 4096;
        byte[] last = Bytes.random(6, 4096);
        Path file = in.resolve("long");
        Path copy = in.resolve("copy");
        try (Syscalls open = Syscalls.open(file);
                Syscalls target = Syscalls.open(copy)) {
            open.write(end - 4096, last);
            assertEquals(end, Files.size(file));
            assertEquals(end - 4096, open.seekData(1));
            for (long done = 0; done < end; ) {
                long part = open.copy(done, target, done, end - done);
                assertTrue(part > 0, "copied " + part + " at " + done);
                done += part;
            }
            assertEquals(end - 4096, target.seekData(0));
        }
        Commands.succeed("truncate", "-s", "15T", file);
        assertEquals(15 * TIB, Files.size(file));
        String tail = Commands.succeed(
                "bash",
                "-c",
                "tail -c 4096 \"$0\" | cksum; tail -c 4096 \"$1\" | cksum",
                copy,
                Files.write(in.resolve("last"), last));
        List<String> sums = tail.lines().toList();
        assertEquals(sums.get(1), sums.get(0));
    }
}
