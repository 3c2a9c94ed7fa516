package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.record.DamageNote.How;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.VolumeStores;

/** The new place of a container that was healed is read before the old one is given back. */
@Timeout(120)
class HealVerificationTest {
    private static final int BYTES = 600 << 10;
    /** An offset in the first frame's payload. */
    private static final int IN_FIRST_FRAME = 20 << 10;

    private static final int ONE_FRAME = 100 << 10;

    private final long seed = TestSeed.next();
    private final CrashDirectory data = new CrashDirectory(seed);
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private final byte[] content = new byte[BYTES];

    private Volume open(HookedStores stores) throws IOException {
        var config = VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);
        return Volume.open(
                config,
                new VolumeStores(
                        stores.hooked(data), stores.hooked(metadata), new HeapChunkIndex(), InstantSource.system()),
                Verification.CHECKSUMS);
    }

    /** Stores content, and damages its first frame; returns the pack. */
    private String damage() throws IOException {
        var config = VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config, data, metadata, InstantSource.system());
        new SplittableRandom(seed).nextBytes(content);
        StoredContainer[] stored = new StoredContainer[1];
        try (Volume volume = open(new HookedStores())) {
            GarbageTrial.store(volume, "a", content);
        }
        try (Volume volume = open(new HookedStores())) {
            volume.context().metadata().containers().forEach(entry -> stored[0] = entry.stored());
        }
        String pack = PackFormat.fileName(stored[0].pack());
        byte[] bytes = data.contents(pack);
        int at = (int) stored[0].offset() + IN_FIRST_FRAME;
        Arrays.fill(bytes, at, at + (8 << 10), (byte) 7);
        data.put(pack, bytes);
        return pack;
    }

    /**
     * What was written is lost after the commit of the new place. Most of the content is nowhere else but in the old
     * place.
     *
     * @param oldStays whether the old place is there for the next pass; false for the control
     * @param wholePack whether all of the new place is lost, or bytes of a frame
     */
    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true"})
    void aNewPlaceThatCannotBeReadCostsNothing(boolean oldStays, boolean wholePack) throws IOException {
        String pack = damage();
        HookedStores stores = new HookedStores();
        Volume volume = open(stores);
        try {
            volume.maintenance().scrub().run((totals, rest, next) -> true);
            assertTrue(volume.maintenance().heal().unhealedChunks() > 0);
            GarbageTrial.store(volume, "part", Arrays.copyOf(content, ONE_FRAME));
            volume.context().containers().endAll();
            volume.context().committer().commit();
            Set<String> before = new HashSet<>(data.list());
            stores.hook = call -> {
                Object result = call.proceed();
                if (call.what().equals("commit")) {
                    for (String name : data.list()) {
                        if (before.add(name)) {
                            byte[] bytes = data.contents(name);
                            int from = wholePack ? PackFormat.FIRST_CONTAINER : bytes.length / 2;
                            int to = wholePack ? bytes.length : from + 100;
                            Arrays.fill(bytes, from, to, (byte) 0);
                            data.put(name, bytes);
                        }
                    }
                }
                return result;
            };
            HealReport first = volume.maintenance().heal().run(soFar -> true);
            stores.hook = HookedStores.Call::proceed;
            assertTrue(first.unhealedChunks() > 0, first::toString);
            assertTrue(volume.maintenance().heal().unhealedChunks() > 0);
            assertTrue(volume.context().metadata().damage().places().stream()
                    .anyMatch(place ->
                            place.note().how() == How.HEAL || place.note().how() == How.SCRUB));
            volume.close();
            if (!oldStays) {
                data.put(pack, new byte[data.contents(pack).length]);
            }
            volume = open(stores);
            HealReport second = volume.maintenance().heal().run(soFar -> true);
            assertEquals(oldStays, second.unhealed().isEmpty(), second::toString);
            if (oldStays) {
                assertArrayEquals(content, GarbageTrial.read(volume, "a", BYTES));
                assertEquals(0, volume.maintenance().heal().unhealedChunks());
            }
        } finally {
            volume.close();
        }
    }
}
