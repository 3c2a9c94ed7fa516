package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** Which containers a collection compresses anew, and what stays as it was. */
class RecompressionTest {
    private static final int LEVEL = 19;

    private final long seed = TestSeed.next();
    private GarbageTrial trial;
    private CrashDirectory data;
    private CrashKeyValueStore metadata;

    @BeforeEach
    void makeGarbage() throws IOException {
        trial = new GarbageTrial(VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.SHA256), seed, LEVEL);
        data = trial.data(seed);
        metadata = trial.metadata();
    }

    private static CollectionReport collect(Volume volume, CollectionLimits limits) throws IOException {
        return volume.collector().collect(limits, (done, of, returned) -> true);
    }

    /** Lets all garbage be, as far as live chunks share their containers with it. */
    private static CollectionLimits recompressing(int level, boolean young) {
        return new CollectionLimits(1, false, level, young);
    }

    private static Map<Long, ContainerEntry> entries(Volume volume) throws IOException {
        Map<Long, ContainerEntry> entries = new HashMap<>();
        volume.context().metadata().containers().forEach(entry -> entries.put(entry.container(), entry));
        return entries;
    }

    private static long storedBytes(Volume volume) throws IOException {
        return entries(volume).values().stream()
                .mapToLong(entry -> entry.stored().bytes())
                .sum();
    }

    private void assertSound(Volume volume) throws IOException {
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
        assertEquals(List.of(), trial.problems(volume));
    }

    @Test
    void garbageGoesAndTheRestGetsSmallerInOneCollection() throws IOException {
        try (Volume volume = trial.open(data, metadata)) {
            Map<Long, ContainerEntry> before = entries(volume);
            CollectionReport report = trial.collect(volume);
            assertTrue(report.removed() > 0 && report.rewritten() > 0, report::toString);
            assertTrue(report.recompressed() > 0, report::toString);
            assertTrue(report.recompressSavedBytes() > 0, report::toString);
            assertTrue(report.incompressible() > 0, report::toString);
            assertEquals(report.recompressVictims(), report.recompressed() + report.incompressible());
            assertEquals(List.of(), trial.notRecompressed(volume));
            assertEquals(List.of(), GarbageTrial.waste(volume, data));
            assertSound(volume);
            // What random bytes fill stays in its place.
            long unmoved = entries(volume).values().stream()
                    .filter(entry ->
                            entry.stored().isAt(before.get(entry.container()).stored()))
                    .count();
            assertEquals(report.incompressible(), unmoved);
        }
        try (Volume volume = trial.open(data, metadata)) {
            assertEquals(List.of(), trial.notRecompressed(volume));
            assertSound(volume);
        }
    }

    @Test
    void nothingIsCompressedTwice() throws IOException {
        try (Volume volume = trial.open(data, metadata)) {
            CollectionReport first = trial.collect(volume);
            assertNotEquals(0, first.recompressVictims());
            Map<Long, ContainerEntry> after = entries(volume);
            assertNothing(trial.collect(volume));
            assertNothing(collect(volume, recompressing(9, true)));
            assertEquals(after, entries(volume));
        }
        try (Volume volume = trial.open(data, metadata)) {
            assertNothing(trial.collect(volume));
        }
    }

    private static void assertNothing(CollectionReport report) {
        assertEquals(0, report.recompressVictims() + report.recompressed() + report.incompressible());
        assertEquals(0, report.rewritten() + report.copiedBytes() + report.recompressSavedBytes(), report::toString);
    }

    @Test
    void aHigherLevelIsTriedOnWhatHasALowerOne() throws IOException {
        try (Volume volume = trial.open(data, metadata)) {
            long written = storedBytes(volume);
            CollectionReport low = collect(volume, recompressing(3, true));
            CollectionReport high = collect(volume, recompressing(LEVEL, true));
            assertEquals(low.recompressVictims(), high.recompressVictims());
            assertTrue(storedBytes(volume) < written);
            assertEquals(List.of(), trial.notRecompressed(volume));
            assertSound(volume);
        }
    }

    @Test
    void slotsAndFramesKeepTheirNumbers() throws IOException {
        try (Volume volume = trial.open(data, metadata)) {
            Map<Long, FrameTable> before = new HashMap<>();
            for (long container : entries(volume).keySet()) {
                before.put(container, volume.context().containers().frameTable(container));
            }
            CollectionReport report = collect(volume, recompressing(LEVEL, true));
            assertTrue(report.recompressed() > 0, report::toString);
            long moved = 0;
            for (long container : entries(volume).keySet()) {
                FrameTable from = before.get(container);
                FrameTable to = volume.context().containers().frameTable(container);
                assertNotNull(from);
                moved += from.writing().equals(to.writing()) ? 0 : 1;
                assertEquals(from.frames(), to.frames());
                for (int frame = 0; frame < from.frames(); frame++) {
                    assertEquals(from.firstSlot(frame), to.firstSlot(frame));
                    assertEquals(from.slotCount(frame), to.slotCount(frame));
                }
            }
            assertEquals(report.recompressed(), moved);
        }
    }

    /** A container that was made since the last such collection may be garbage tomorrow. */
    @Test
    void whatIsYoungWaitsForTheNextCollection() throws IOException {
        try (Volume volume = trial.open(data, metadata)) {
            trial.write(volume, "young", trial.text(512 << 10));
            CollectionReport first = collect(volume, recompressing(LEVEL, false));
            assertTrue(first.recompressed() > 0, "what was there before the mount is not young");
            assertFalse(trial.notRecompressed(volume).isEmpty());
            // Collections that compress nothing anew, as those of a full disk, change nothing about that.
            collect(volume, new CollectionLimits(1, false));
            trial.write(volume, "younger", trial.text(512 << 10));
            CollectionReport second = collect(volume, recompressing(LEVEL, false));
            assertEquals(1, second.recompressVictims(), second::toString);
            assertEquals(1, trial.notRecompressed(volume).size());
            CollectionReport all = collect(volume, recompressing(LEVEL, true));
            assertEquals(1, all.recompressVictims(), all::toString);
            assertEquals(List.of(), trial.notRecompressed(volume));
            assertSound(volume);
        }
    }

    @Test
    void aDryRunSaysWhatWouldBeCompressedAndChangesNothing() throws IOException {
        try (Volume volume = trial.open(data, metadata)) {
            Map<Long, ContainerEntry> before = entries(volume);
            CollectionReport dry = collect(volume, new CollectionLimits(1, true, LEVEL, false));
            assertEquals(before, entries(volume));
            CollectionReport done = collect(volume, recompressing(LEVEL, false));
            assertEquals(dry.recompressVictims(), done.recompressVictims());
            assertEquals(dry.recompressBytes(), done.recompressBytes());
            assertTrue(done.recompressBytes() > 0);
        }
    }

    @Test
    void aStoppedOneGoesOnLater() throws IOException {
        try (Volume volume = trial.open(data, metadata)) {
            CollectionReport wanted = collect(volume, new CollectionLimits(1, true, LEVEL, true));
            assertThrows(
                    InterruptedIOException.class,
                    () -> volume.collector()
                            .collect(
                                    recompressing(LEVEL, true),
                                    // Stops behind the first container that was compressed anew.
                                    (done, of, returned) -> done <= of - wanted.recompressBytes()));
            assertSound(volume);
            CollectionReport report = collect(volume, recompressing(LEVEL, true));
            assertTrue(report.recompressVictims() > 0, report::toString);
            assertEquals(List.of(), trial.notRecompressed(volume));
            assertSound(volume);
        }
    }

    /** The level of a container is the least one that any of its frames was compressed anew with. */
    @Test
    void theLevelOfWhatIsWrittenAnewIsTrue() throws IOException {
        try (Volume volume = trial.open(data, metadata)) {
            trial.collect(volume);
            byte[] whole = trial.text(256 << 10);
            trial.write(volume, "whole", whole);
            // A frame and a part of another one; a part of the first one.
            trial.write(volume, "part", Arrays.copyOf(whole, 96 << 10));
            trial.write(volume, "less", Arrays.copyOf(whole, 32 << 10));
            trial.collect(volume);
            assertEquals(List.of(), trial.notRecompressed(volume));

            trial.remove(volume, "whole");
            CollectionReport lower = collect(volume, new CollectionLimits(0, false, 9, true));
            assertEquals(1, lower.rewritten(), lower::toString);
            assertEquals(Map.of(LEVEL, entries(volume).size() - 1, 9, 1), levels(volume));
            assertSound(volume);

            assertEquals(1, trial.collect(volume).recompressVictims());
            trial.remove(volume, "part");
            assertEquals(1, collect(volume, new CollectionLimits(0, false)).rewritten());
            assertEquals(Map.of(LEVEL, entries(volume).size() - 1, 0, 1), levels(volume));
            assertSound(volume);
        }
    }

    /** The number of containers of each level. */
    private static Map<Integer, Integer> levels(Volume volume) throws IOException {
        Map<Integer, Integer> levels = new HashMap<>();
        entries(volume).values().forEach(entry -> levels.merge(entry.stored().recompressed(), 1, Integer::sum));
        return levels;
    }

    /** A damaged chunk stays where it is, with its container; nothing else is lost, and the rest is compressed. */
    @Test
    void whatIsDamagedStaysAsItIs() throws IOException {
        try (Volume volume = trial.open(data, metadata)) {
            collect(volume, new CollectionLimits(0, false));
            ContainerEntry bad = null;
            for (ContainerEntry entry : entries(volume).values()) {
                bad = entry.liveBytes() > (256 << 10) ? entry : bad;
            }
            assertNotNull(bad);
            StoredContainer stored = bad.stored();
            String pack = PackFormat.fileName(stored.pack());
            data.failReads(pack, (int) stored.offset() + 5000, (int) stored.offset() + 5512);
            CollectionReport report = collect(volume, recompressing(LEVEL, true));
            assertEquals(1, report.keptContainers(), report::toString);
            assertEquals(stored, entries(volume).get(bad.container()).stored());
            assertEquals(1, trial.notRecompressed(volume).size());
            data.failReads(pack, 0, 0);
            volume.maintenance().heal().run(soFar -> true);
            assertEquals(0, collect(volume, recompressing(LEVEL, true)).keptContainers());
            assertEquals(List.of(), trial.notRecompressed(volume));
            assertSound(volume);
        }
    }
}
