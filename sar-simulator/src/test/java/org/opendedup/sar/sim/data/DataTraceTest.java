package org.opendedup.sar.sim.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.sim.CommandTest;
import org.opendedup.sar.sim.trace.ChunkTraceVisitor;

class DataTraceTest extends CommandTest {
    private static final int BLOCK = 4096;

    @TempDir
    Path folder;

    private Path old;
    private Path now;

    /** Four blocks; then the same with zeros in place of the second. */
    @BeforeEach
    void makeVersions() throws IOException {
        byte[] data = new byte[4 * BLOCK];
        new Random(1).nextBytes(data);
        old = Files.write(folder.resolve("old"), data);
        Arrays.fill(data, BLOCK, 2 * BLOCK, (byte) 0);
        now = Files.write(folder.resolve("now"), data);
    }

    @Test
    void aPathIsAVersionAndZerosAreLeftOut() throws IOException {
        List<List<Long>> versions = new ArrayList<>();
        DataTrace.read(List.of(old, now), Chunking.SHA256, new ChunkTraceVisitor() {
            @Override
            public void version(int number) {
                versions.add(new ArrayList<>());
                assertEquals(versions.size(), number);
            }

            @Override
            public void chunk(long fingerprint, int bytes) {
                assertEquals(BLOCK, bytes);
                versions.get(versions.size() - 1).add(fingerprint);
            }
        });
        List<Long> first = versions.get(0);
        assertEquals(4, first.size());
        assertEquals(List.of(first.get(0), first.get(2), first.get(3)), versions.get(1));
    }

    @Test
    void aFileThatCanNotBeReadIsAnError() {
        IOException e = assertThrows(
                IOException.class,
                () -> DataTrace.read(List.of(Path.of("/proc/self/mem")), Chunking.SHA256, new Ignoring()));
        assertTrue(String.valueOf(e.getMessage()).contains("/mem: "), e::toString);
    }

    @Test
    void theRestoreCommandTakesData() {
        assertEquals(
                0,
                sim(
                        List.of("restore", "--policy=lru", "--cache-containers=2", "--container-size=8KB"),
                        "--hash-type=SHA256",
                        "--data",
                        old.toString(),
                        now.toString()));
        assertEquals(3, out.toString().lines().count(), out::toString);
    }

    private static final class Ignoring implements ChunkTraceVisitor {
        @Override
        public void version(int number) {}

        @Override
        public void chunk(long fingerprint, int bytes) {}
    }
}
