package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.volume.config.OtherHistory;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** Packs that the metadata do not know because they were restored from a backup are not taken for what a crash left. */
class CollectionEpochTest {
    private final long seed = TestSeed.next();
    private GarbageTrial trial;
    private CrashDirectory data;
    /** Packs that only the newer metadata know. */
    private final List<String> newer = new ArrayList<>();

    @BeforeEach
    void makeNewerData() throws IOException {
        trial = new GarbageTrial(VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.SHA256), seed);
        data = trial.data(seed);
        List<String> before = data.list();
        try (Volume volume = trial.open(data, trial.metadata())) {
            GarbageTrial.store(volume, "newer", trial.random(500_000));
        }
        newer.addAll(data.list());
        newer.removeAll(before);
        assertFalse(newer.isEmpty());
        // The pack with the highest number would stay anyway.
        data.put(PackFormat.fileName(1_000_000), data.contents(newer.get(0)));
    }

    @Test
    void packsOfANewerHistoryStayWhereOlderMetadataAreMounted() throws IOException {
        List<byte[]> bytes = new ArrayList<>();
        for (String pack : newer) {
            bytes.add(data.contents(pack));
        }
        try (Volume volume = trial.open(data, trial.metadata())) {
            assertEquals(0, trial.collect(volume).strayBytes());
            assertEquals(List.of(), trial.problems(volume));
        }
        for (int i = 0; i < newer.size(); i++) {
            assertArrayEquals(bytes.get(i), data.contents(newer.get(i)));
        }
    }

    /** An administrator may still put the newer metadata back. */
    @Test
    void theyStayAtLaterMountsUntilTheyAreGivenUp() throws IOException {
        CrashKeyValueStore metadata = trial.metadata();
        for (int mount = 0; mount < 3; mount++) {
            try (Volume volume = trial.open(data, metadata)) {
                assertTrue(volume.condition().restored());
                assertEquals(0, trial.collect(volume).strayBytes());
                assertEquals(List.of(), trial.problems(volume));
            }
        }
        assertTrue(data.list().containsAll(newer));
    }

    /** Control: when they are given up, the mount after that sweeps them. Nothing is marked again. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void controlWhoOwnsThePacksSweepsThem(boolean whileMounted) throws IOException {
        CrashKeyValueStore metadata = trial.metadata();
        Volume first = trial.open(data, metadata);
        if (whileMounted) {
            assertTrue(OtherHistory.giveUp(data));
        }
        first.close();
        assertEquals(!whileMounted, OtherHistory.giveUp(data));
        trial.open(data, metadata).close();
        try (Volume volume = trial.open(data, metadata)) {
            assertTrue(trial.collect(volume).strayBytes() > 0);
            assertEquals(List.of(), trial.problems(volume));
        }
        assertTrue(newer.stream().noneMatch(data.list()::contains));
        assertTrue(data.list().stream().noneMatch(name -> name.startsWith(OtherHistory.NAME)));
    }

    /** The other history was given up before the older metadata were used once, as after a restore. */
    @Test
    void whatIsGivenUpIsNotMarkedAgain() throws IOException {
        OtherHistory.mark(data);
        OtherHistory.giveUp(data);
        CrashKeyValueStore metadata = trial.metadata();
        trial.open(data, metadata).close();
        assertFalse(OtherHistory.isMarked(data));
        try (Volume volume = trial.open(data, metadata)) {
            assertTrue(trial.collect(volume).strayBytes() > 0);
        }
    }
}
