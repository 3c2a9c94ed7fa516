package org.opendedup.sar.index.rocksdb;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.index.ChunkIndex;

/**
 * Loses every page of every file of an index once, and truncates every file. Opening the index then either succeeds or
 * reports damage, so that it is rebuilt. Any other failure would prevent a mount.
 */
class DamagedIndexTest {
    private static final int PAGE = 4096;
    private static final int CHUNKS = 600;

    @TempDir
    Path temporary;

    private int trials;

    @Test
    void noDamageKeepsAnIndexFromBeingOpenedOrMadeAgain() throws IOException {
        Path written = temporary.resolve("written");
        try (ChunkIndex index = RocksDbChunkIndexFactory.open(written, RocksDbChunkIndexFactory.MIN_MEMORY_BYTES)) {
            byte[] fingerprints = new byte[CHUNKS * 32];
            new Random(1).nextBytes(fingerprints);
            for (int i = 0; i < CHUNKS; i++) {
                index.insert(fingerprints, i * 32, 1 + i);
                if (i % 200 == 100) {
                    index.flush();
                }
            }
        }
        int refused = 0;
        for (Path file : files(written)) {
            byte[] whole = Files.readAllBytes(file);
            for (int page = 0; page * PAGE < whole.length; page++) {
                byte[] torn = whole.clone();
                Arrays.fill(torn, page * PAGE, Math.min(torn.length, (page + 1) * PAGE), (byte) 0);
                refused += isRefused(written, file, torn) ? 1 : 0;
            }
            refused += isRefused(written, file, Arrays.copyOf(whole, whole.length / 2)) ? 1 : 0;
            refused += isRefused(written, file, new byte[0]) ? 1 : 0;
        }
        assertTrue(refused > 0, "the control: some damage is noticed");
    }

    private boolean isRefused(Path written, Path damaged, byte[] bytes) throws IOException {
        Path copy = Files.createDirectory(temporary.resolve("copy" + trials++));
        for (Path file : files(written)) {
            Files.copy(file, copy.resolve(file.getFileName()));
        }
        Files.write(copy.resolve(damaged.getFileName()), bytes);
        try {
            RocksDbChunkIndexFactory.open(copy, RocksDbChunkIndexFactory.MIN_MEMORY_BYTES)
                    .close();
            return false;
        } catch (CorruptionException e) {
            RocksDbChunkIndexFactory.destroy(copy);
            RocksDbChunkIndexFactory.open(copy, RocksDbChunkIndexFactory.MIN_MEMORY_BYTES)
                    .close();
            return true;
        } catch (IOException e) {
            throw new AssertionError(damaged + ": " + e.getMessage(), e);
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList();
        }
    }
}
