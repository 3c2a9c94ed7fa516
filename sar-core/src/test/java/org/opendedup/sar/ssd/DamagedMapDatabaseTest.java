package org.opendedup.sar.ssd;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.CorruptionException;

/**
 * Loses every page of every file of a Map table's database once, and truncates every file, as after a power cut.
 * Opening it then either succeeds or reports damage, so that it is rebuilt.
 */
class DamagedMapDatabaseTest {
    private static final int PAGE = 4096;
    private static final int ENTRIES = 1000;

    @TempDir
    Path temporary;

    private int trials;

    @Test
    void noDamageKeepsADatabaseFromBeingOpenedOrMadeAnew() throws IOException {
        Path written = temporary.resolve("written");
        Path copied = temporary.resolve("copied");
        for (int life = 0; life < 2; life++) {
            try (MapDatabase database = MapDatabase.open(written)) {
                for (int i = 0; i < ENTRIES; i++) {
                    MapEntry entry = new MapEntry();
                    entry.chunkId = 1 + i + life * ENTRIES;
                    entry.segment = 1;
                    entry.offset = i * 8;
                    entry.length = 100;
                    database.put(entry);
                    if (i % 100 == 99) {
                        database.commit();
                    }
                }
                if (life == 1) {
                    copy(written, copied); // with a log, as after a power cut
                }
            }
        }
        int refused = 0;
        for (Path file : files(copied)) {
            byte[] whole = Files.readAllBytes(file);
            for (int page = 0; page * PAGE < whole.length; page++) {
                byte[] torn = whole.clone();
                Arrays.fill(torn, page * PAGE, Math.min(torn.length, (page + 1) * PAGE), (byte) 0);
                refused += isRefused(copied, file, torn) ? 1 : 0;
            }
            refused += isRefused(copied, file, Arrays.copyOf(whole, whole.length / 2)) ? 1 : 0;
            refused += isRefused(copied, file, new byte[0]) ? 1 : 0;
        }
        assertTrue(refused > 0, "the control: some damage is noticed");
    }

    private boolean isRefused(Path copied, Path damaged, byte[] bytes) throws IOException {
        Path copy = temporary.resolve("copy" + trials++);
        copy(copied, copy);
        Files.write(copy.resolve(damaged.getFileName()), bytes);
        try (MapDatabase database = MapDatabase.open(copy)) {
            database.forEach(entry -> {});
            return false;
        } catch (CorruptionException e) {
            MapDatabase.destroy(copy);
            MapDatabase.open(copy).close();
            return true;
        } catch (IOException e) {
            throw new AssertionError(damaged + ": " + e.getMessage(), e);
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectory(to);
        for (Path file : files(from)) {
            Files.copy(file, to.resolve(file.getFileName()));
        }
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList();
        }
    }
}
