package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.volume.CutStores.Fault;
import org.opendedup.sar.volume.CutStores.Promise;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.DataLocations;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Cuts the power at each change that adding a data location makes, and lets each call of the stores fail once. After
 * that the volume opens with the locations that its file names, and what was synced is there.
 */
class FurtherLocationCrashTest extends CrashRun<Volume> {
    private static final int BYTES = 100 << 10;

    private final VolumeConfig config = VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);
    private final Map<String, byte[]> contents = new TreeMap<>();
    private final Set<String> synced = new HashSet<>();
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private CrashDirectory data;
    /** Whether the volume file names the further location; it is replaced as a whole. */
    private boolean isNamed;
    /** Whether the volume file is written before the location is prepared: the wrong order. */
    private boolean namesTooEarly;

    private CutStores stores;

    @BeforeEach
    void make() throws IOException {
        data = new CrashDirectory(seed);
        Volume.create(config, data, metadata, InstantSource.system());
        SplittableRandom random = new SplittableRandom(seed);
        for (String name : List.of("before", "after", "later")) {
            byte[] bytes = new byte[BYTES];
            random.nextBytes(bytes);
            contents.put(name, bytes);
        }
        try (Volume volume = open(data)) {
            GarbageTrial.store(volume, "before", contents.get("before"));
        }
        metadata.crash(0);
    }

    private Volume open(Directory directory) throws IOException {
        return Volume.open(
                config,
                new VolumeStores(directory, metadata, new HeapChunkIndex(), InstantSource.system()),
                Verification.CHECKSUMS);
    }

    @Override
    CutStores stores(long crashSeed) throws IOException {
        isNamed = false;
        synced.clear();
        synced.add("before");
        CutStores made = new CutStores(data.crash(crashSeed), metadata.crash(0));
        stores = made;
        return made;
    }

    @Override
    Volume open(CutStores of) throws IOException {
        stores = of;
        // The further one has more.
        of.data.noSpaceAfter(1L << 40);
        DataLocations locations = isNamed ? DataLocations.of(of.data(), of.further()) : DataLocations.of(of.data());
        return Volume.open(
                config,
                new VolumeStores(locations, of.metadata(), new HeapChunkIndex(), InstantSource.system()),
                Verification.CHECKSUMS);
    }

    @Override
    void run(Volume volume) throws IOException {
        add(volume, stores);
        store(volume, "after");
    }

    private void store(Volume volume, String name) throws IOException {
        GarbageTrial.store(volume, name, contents.get(name));
        volume.sync();
        synced.add(name);
    }

    private void add(Volume volume, CutStores of) throws IOException {
        isNamed |= namesTooEarly;
        DataLocations.prepare(of.data(), of.further());
        isNamed = true;
        volume.context().engine().use(DataLocations.of(of.further()).locations().get(0));
    }

    @Override
    List<String> problems(CutStores left) throws IOException {
        List<String> problems = new ArrayList<>();
        try (Volume volume = open(left)) {
            problems.addAll(wrongFiles(volume));
            if (!isNamed) {
                add(volume, left);
            }
            store(volume, "later");
        }
        try (Volume volume = open(left)) {
            problems.addAll(wrongFiles(volume));
            problems.addAll(VolumeChecker.check(volume));
        }
        if (packs(left.further) == 0) {
            problems.add("nothing was stored in the further location");
        }
        return problems;
    }

    private List<String> wrongFiles(Volume volume) {
        Map<String, byte[]> expected = new TreeMap<>(contents);
        expected.keySet().retainAll(synced);
        return wrongFiles(volume, expected);
    }

    @Test
    void aCrashAtAnyChangeOfAddingLosesNothing() throws IOException {
        assertNoCutLoses(8);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "KEPT")
    void controlABrokenPromiseIsNoticed(Promise promise) throws IOException {
        assertIsNoticed(promise);
    }

    /** The volume file names a location only when it is prepared. */
    @Test
    void controlALocationThatIsNamedTooEarlyIsNoticed() throws IOException {
        namesTooEarly = true;
        assertIsNoticed(Promise.KEPT);
    }

    @Test
    void aFaultAtAnyCallOfAddingLosesNothing() throws IOException {
        assertNoFaultLoses(Fault.EIO, (volume, of) -> {
            resumeIfStopped(volume);
            return wrongFiles(volume);
        });
        assertTrue(synced.contains("before"));
    }
}
