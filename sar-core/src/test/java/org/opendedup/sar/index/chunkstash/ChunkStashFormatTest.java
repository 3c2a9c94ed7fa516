package org.opendedup.sar.index.chunkstash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.index.CoveredContainers;
import org.opendedup.sar.index.TestSegments;
import org.opendedup.sar.io.FileDirectory;

/**
 * The files of an index as version 2 of the format has them, with each type of record. With {@code -Dsar.golden=DIR}
 * they are written to that folder, for a new version; those of an old version never change.
 */
class ChunkStashFormatTest {
    private static final String GOLDEN = "chunkstash-v2/";
    private static final long GENERATION = 0x0123456789abcdefL;
    private static final Epoch EPOCH = new Epoch(UUID.fromString("01234567-89ab-cdef-0fed-cba987654321"), 7, 0x77L);
    private static final int SLOTS = 40;
    private static final byte[] FRAME_TABLE = {1, 2, 3};

    private static final List<String> FILES = List.of(
            StashFiles.IDENTITY,
            "log-123456789abcdef-00000001",
            "log-123456789abcdef-00000002",
            StashFiles.CHECKPOINT,
            StashFiles.TABLE);

    /** A checkpoint and its table have the same random number, at this place, and so random checksums at the end. */
    private static final int NUMBER_AT = 12;

    /** The smallest table, and a log of two segments. */
    private static final StashSettings SETTINGS =
            new StashSettings(StashSettings.LEAST_TABLE_BYTES, StashWriter.MOST_OPEN + 1, 4096);

    @TempDir
    Path folder;

    private static ChunkStashIndex open(Path folder) throws IOException {
        // With room for more: a table that is made again is larger than the one that was read.
        return ChunkStashIndexFactory.open(folder, new StashSettings(1 << 20, SETTINGS.frames(), 4096));
    }

    private static void store(ChunkStashIndex index, long container, long first, int count) throws IOException {
        index.insert(TestSegments.setFresh(TestSegments.of(first, count), container));
        index.cover(container, FRAME_TABLE);
    }

    /**
     * Three containers of new chunks; the first ten of the first one again in the fourth; three forgotten ones of the
     * second one; the third one is not covered any more.
     */
    private static void write(Path folder) throws IOException {
        Files.createDirectory(folder);
        StashFiles.writeIdentity(FileDirectory.open(folder), GENERATION);
        try (ChunkStashIndex index = ChunkStashIndexFactory.open(folder, SETTINGS)) {
            index.stamp(EPOCH);
            for (int container = 1; container <= 3; container++) {
                store(index, container, container * 100L, SLOTS);
            }
            store(index, 4, 100, 10);
            BitSet slots = new BitSet();
            slots.set(3, 6);
            index.remove(2, TestSegments.of(200, SLOTS).fingerprints(), slots);
            index.uncover(3);
        }
    }

    private static void verify(ChunkStashIndex index) throws IOException {
        for (int container = 1; container <= 3; container++) {
            Segment segment = TestSegments.of(container * 100L, SLOTS);
            index.lookup(segment);
            for (int slot = 0; slot < SLOTS; slot++) {
                long expected = ChunkId.of(container == 1 && slot < 10 ? 4 : container, slot);
                boolean isForgotten = container == 2 && slot >= 3 && slot < 6;
                assertEquals(isForgotten ? ChunkId.NONE : expected, segment.hint(slot), container + ", " + slot);
            }
        }
        assertEquals(3 * SLOTS - 3, index.estimatedChunks());
        assertEquals(4, index.highestContainer());
        assertEquals(EPOCH, index.epoch());
        assertEquals(List.of(1L, 2L, 4L), CoveredContainers.of(index));
        assertArrayEquals(FRAME_TABLE, index.frameTable(1));
        assertNull(index.frameTable(3));
        List<Integer> ofOne = new ArrayList<>();
        index.forEachOf(1, (slot, fingerprint) -> ofOne.add(slot));
        assertEquals(SLOTS, ofOne.size(), "those that lead elsewhere are still its own");
    }

    private byte[] golden(String name) throws IOException {
        try (InputStream in = getClass().getResourceAsStream(GOLDEN + name + ".bin")) {
            return Objects.requireNonNull(in, name).readAllBytes();
        }
    }

    private Path goldenIndex(List<String> names) throws IOException {
        Path index = Files.createDirectory(folder.resolve("golden" + names.size()));
        for (String name : names) {
            Files.write(index.resolve(name), golden(name));
        }
        return index;
    }

    @Test
    void anIndexOfVersionTwoIsReadByEveryLaterProgram() throws IOException {
        try (ChunkStashIndex index = open(goldenIndex(FILES))) {
            assertTrue(index.statistics().tableBytes() <= StashSettings.LEAST_TABLE_BYTES, "its table is used");
            verify(index);
        }
    }

    @Test
    void theLogOfVersionTwoSuffices() throws IOException {
        try (ChunkStashIndex index = open(goldenIndex(FILES.subList(0, 3)))) {
            assertTrue(index.statistics().tableBytes() > StashSettings.LEAST_TABLE_BYTES, "the table is made again");
            verify(index);
        }
    }

    /** The control of the two above: the answers come from the log and the table that were read. */
    @Test
    void controlADamagedTableIsNotUsedAndAMissingLogIsNoticed() throws IOException {
        Path index = goldenIndex(FILES);
        byte[] table = golden(StashFiles.TABLE);
        table[table.length / 2] ^= 1;
        Files.write(index.resolve(StashFiles.TABLE), table);
        try (ChunkStashIndex opened = open(index)) {
            assertTrue(opened.statistics().tableBytes() > StashSettings.LEAST_TABLE_BYTES);
        }
        Path without = goldenIndex(List.of(StashFiles.IDENTITY, FILES.get(2), StashFiles.CHECKPOINT, StashFiles.TABLE));
        assertThrows(CorruptionException.class, () -> open(without));
    }

    @Test
    void whatIsWrittenNowIsTheSame() throws IOException {
        Path written = folder.resolve("written");
        write(written);
        String target = System.getProperty("sar.golden");
        for (String name : target == null ? List.<String>of() : FILES) {
            Files.copy(written.resolve(name), Path.of(target, name + ".bin"));
        }
        for (String name : FILES) {
            byte[] bytes = Files.readAllBytes(written.resolve(name));
            assertArrayEquals(withoutNumber(name, golden(name)), withoutNumber(name, bytes), name);
        }
        try (var files = Files.list(written)) {
            List<String> names = files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.equals("LOCK"))
                    .toList();
            assertEquals(
                    FILES.stream().sorted().toList(), names.stream().sorted().toList());
        }
        try (ChunkStashIndex index = open(written)) {
            verify(index);
        }
    }

    private static byte[] withoutNumber(String name, byte[] bytes) {
        if (name.equals(StashFiles.CHECKPOINT) || name.equals(StashFiles.TABLE)) {
            Arrays.fill(bytes, NUMBER_AT, NUMBER_AT + Long.BYTES, (byte) 0);
            Arrays.fill(bytes, bytes.length - Integer.BYTES, bytes.length, (byte) 0);
        }
        return bytes;
    }
}
