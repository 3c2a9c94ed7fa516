package org.opendedup.sar.index.chunkstash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.index.CoveredContainers;
import org.opendedup.sar.index.TestSegments;

/**
 * Damages every file of an index in many ways: flipped bits, lost blocks, shorter files, missing files. Whatever opens
 * then gives right answers, or finds nothing, or reports the damage, after which the next opening makes a new index. No
 * damage leads to a wrong chunk.
 */
class DamagedChunkStashTest {
    private static final int BLOCK = 512;
    private static final int SLOTS = 60;
    private static final int CONTAINERS = 20;

    private static final StashSettings SETTINGS = new StashSettings(64 << 10, StashWriter.MOST_OPEN + 1, 16 << 10);

    @TempDir
    Path temporary;

    private int trials;
    private int refused;
    private int reported;
    private int lost;

    private static ChunkStashIndex open(Path folder) throws IOException {
        return ChunkStashIndexFactory.open(folder, SETTINGS);
    }

    private Path write(boolean isClosed) throws IOException {
        Path folder = temporary.resolve("written" + isClosed);
        ChunkStashIndex index = open(folder);
        for (int container = 1; container <= CONTAINERS; container++) {
            index.insert(TestSegments.setFresh(TestSegments.of(container * SLOTS, SLOTS), container));
            index.cover(container, new byte[200]);
        }
        Path left = temporary.resolve("left" + isClosed);
        if (isClosed) {
            index.close();
        }
        TestFolders.copy(folder, left);
        index.close();
        return left;
    }

    @Test
    void noDamageLeadsToAWrongChunk() throws IOException {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        for (boolean isClosed : new boolean[] {true, false}) {
            Path written = write(isClosed);
            assertEquals(0, lookUpAll(written, null, null), "the control: nothing is lost without damage");
            for (Path file : TestFolders.files(written)) {
                byte[] whole = Files.readAllBytes(file);
                for (int block = 0; block * BLOCK < whole.length; block += 1 + random.nextInt(4)) {
                    byte[] zeroed = whole.clone();
                    Arrays.fill(zeroed, block * BLOCK, Math.min(whole.length, (block + 1) * BLOCK), (byte) 0);
                    lookUpAll(written, file, zeroed);
                    byte[] flipped = whole.clone();
                    flipped[random.nextInt(whole.length)] ^= (byte) (1 << random.nextInt(8));
                    lookUpAll(written, file, flipped);
                }
                lookUpAll(written, file, Arrays.copyOf(whole, whole.length / 2));
                lookUpAll(written, file, new byte[0]);
            }
        }
        System.out.println(
                trials + " trials: " + refused + " refused, " + reported + " reported, " + lost + " lost some");
        assertTrue(refused > 0 && reported > 0 && lost > 0, "the control: damage is noticed in each way");
    }

    /** Looks all chunks up in a copy with a damaged file; returns how many are not found. */
    private int lookUpAll(Path written, Path damaged, byte[] bytes) throws IOException {
        Path copy = temporary.resolve("copy" + trials++);
        TestFolders.copy(written, copy);
        if (damaged != null) {
            Files.write(copy.resolve(damaged.getFileName()), bytes);
        }
        int missing = 0;
        try (ChunkStashIndex index = open(copy)) {
            List<Long> covered = CoveredContainers.of(index);
            for (int container = 1; container <= CONTAINERS; container++) {
                missing += missingOf(index, container, covered);
            }
            lost += missing > 0 ? 1 : 0;
        } catch (CorruptionException e) {
            boolean isMarked = Files.exists(copy.resolve(StashFiles.DAMAGED));
            reported += isMarked ? 1 : 0;
            refused += isMarked ? 0 : 1;
            if (isMarked) {
                assertThrows(CorruptionException.class, () -> open(copy).close());
            }
            ChunkStashIndexFactory.destroy(copy);
            open(copy).close();
        }
        ChunkStashIndexFactory.destroy(copy);
        return missing;
    }

    private static int missingOf(ChunkStashIndex index, int container, List<Long> covered) throws IOException {
        int missing = 0;
        // Alone and with neighbours: entries are read one by one, and as a page.
        for (int from : new int[] {0, 1}) {
            Segment segment = TestSegments.of(container * SLOTS, from == 0 ? 1 : SLOTS);
            index.lookup(segment);
            for (int slot = 0; slot < segment.count(); slot++) {
                if (segment.hint(slot) == ChunkId.NONE) {
                    assertTrue(!covered.contains((long) container), "a covered container lacks a chunk");
                    missing++;
                } else {
                    assertEquals(ChunkId.of(container, slot), segment.hint(slot));
                }
            }
        }
        return missing;
    }

    @Test
    void aNewerFormatIsRefusedAndStays() throws IOException {
        Path folder = write(true);
        Path identity = folder.resolve(StashFiles.IDENTITY);
        byte[] bytes = Files.readAllBytes(identity);
        bytes[8] = 9;
        java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
        crc.update(bytes, 0, bytes.length - 4);
        java.nio.ByteBuffer.wrap(bytes).order(java.nio.ByteOrder.LITTLE_ENDIAN).putInt(bytes.length - 4, (int)
                crc.getValue());
        Files.write(identity, bytes);
        var refusal = assertThrows(UnsupportedFormatException.class, () -> open(folder));
        assertTrue(refusal.getMessage().contains("version 9"), refusal.getMessage());
    }

    @Test
    void aMissingFileOfTheLogIsNoticed() throws IOException {
        for (boolean isClosed : new boolean[] {true, false}) {
            Path written = write(isClosed);
            List<Path> segments = TestFolders.files(written).stream()
                    .filter(file -> file.getFileName().toString().startsWith(StashLog.PREFIX))
                    .toList();
            assertTrue(segments.size() > 2);
            Path copy = temporary.resolve("missing" + isClosed);
            TestFolders.copy(written, copy);
            Files.delete(copy.resolve(segments.get(1).getFileName()));
            assertThrows(CorruptionException.class, () -> open(copy));
        }
    }
}
