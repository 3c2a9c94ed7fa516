package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.volume.CutStores.Fault;
import org.opendedup.sar.volume.CutStores.Promise;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.DataLocations;
import org.opendedup.sar.volume.store.DeviceCondition;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Cuts the power at each change by which a data location is left, and lets each call of the stores fail once. After
 * that no file loses a byte, the same command goes on, and in the end the volume does without the location.
 */
class EvacuationCrashTest extends CrashRun<Volume> {
    private static final int BYTES = 100 << 10;
    private static final Path FURTHER = Path.of("memory further");

    private final VolumeConfig config = VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);
    private final Map<String, byte[]> contents = new TreeMap<>();
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private CrashDirectory data;
    private CrashDirectory further;
    /** Whether the volume file names the further location; it is replaced as a whole. */
    private boolean isNamed;
    /** Whether the volume file forgets the location before the metadata do: the wrong order. */
    private boolean forgetsTooEarly;

    @BeforeEach
    void make() throws IOException {
        data = new CrashDirectory(seed);
        further = new CrashDirectory(seed + 1);
        Volume.create(config, data, metadata, InstantSource.system());
        DataLocations.prepare(data, further);
        isNamed = true;
        SplittableRandom random = new SplittableRandom(seed);
        for (int file = 0; file < 3; file++) {
            byte[] bytes = new byte[BYTES];
            random.nextBytes(bytes);
            contents.put("file" + file, bytes);
            // With each opening the other location gets the pack.
            data.noSpaceAfter(file == 1 ? Long.MAX_VALUE : 1L << 40);
            further.noSpaceAfter(file == 1 ? 1L << 40 : Long.MAX_VALUE);
            var stores = new VolumeStores(
                    DataLocations.of(data, further), metadata, new HeapChunkIndex(), InstantSource.system());
            try (Volume volume = Volume.open(config, stores, Verification.CHECKSUMS)) {
                GarbageTrial.store(volume, "file" + file, bytes);
            }
        }
        assertEquals(2, packs(further));
        assertEquals(1, packs(data));
        metadata.crash(0);
    }

    @Override
    CutStores stores(long crashSeed) throws IOException {
        isNamed = true;
        return new CutStores(data.crash(crashSeed), metadata.crash(0), new CrashRawFolder(0), further.crash(crashSeed));
    }

    @Override
    Volume open(CutStores of) throws IOException {
        DataLocations locations =
                isNamed ? DataLocations.of(of.data(), named(of.further())) : DataLocations.of(of.data());
        Volume volume = Volume.open(
                config,
                new VolumeStores(locations, of.metadata(), new HeapChunkIndex(), InstantSource.system()),
                Verification.CHECKSUMS);
        volume.whenLeft(folder -> isNamed = false);
        return volume;
    }

    /** Returns a directory as if it were in a folder. */
    private static Directory named(Directory directory) {
        return (Directory) Proxy.newProxyInstance(
                Directory.class.getClassLoader(), new Class<?>[] {Directory.class}, (self, method, arguments) -> {
                    if (method.getName().equals("toString")) {
                        return FURTHER.toString();
                    }
                    try {
                        return method.invoke(directory, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Override
    void run(Volume volume) throws IOException {
        evacuate(volume);
    }

    private void evacuate(Volume volume) throws IOException {
        isNamed &= !forgetsTooEarly;
        volume.collector().collect(CollectionLimits.leaving(FURTHER), (done, of, returned) -> true);
    }

    @Override
    List<String> problems(CutStores left) throws IOException {
        List<String> problems = new ArrayList<>();
        try (Volume volume = open(left)) {
            problems.addAll(wrongFiles(volume, contents));
        }
        // What a location of another epoch has stays until the next opening.
        try (Volume volume = open(left)) {
            if (isNamed) {
                evacuate(volume);
            }
            problems.addAll(wrongFiles(volume, contents));
        }
        if (isNamed || packs(left.further) > 0) {
            problems.add("the location was not left");
        }
        try (Volume volume = open(left)) {
            problems.addAll(wrongFiles(volume, contents));
            problems.addAll(VolumeChecker.check(volume));
            if (volume.condition().damagedChunks() > 0) {
                problems.add("damaged chunks");
            }
        }
        return problems;
    }

    @Test
    void aCrashAtAnyChangeOfLeavingLosesNothingAndTheNextCallCompletesIt() throws IOException {
        assertNoCutLoses(10);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "KEPT")
    void controlABrokenPromiseIsNoticed(Promise promise) throws IOException {
        assertIsNoticed(promise);
    }

    /** The volume file forgets a location only when the metadata do not need it. */
    @Test
    void controlALocationThatIsForgottenTooEarlyIsNoticed() throws IOException {
        forgetsTooEarly = true;
        assertIsNoticed(Promise.KEPT);
    }

    @Test
    void aFaultAtAnyCallOfLeavingLosesNothing() throws IOException {
        assertNoFaultLoses(Fault.EIO, (volume, of) -> {
            resumeIfStopped(volume);
            return wrongFiles(volume, contents);
        });
    }

    @Test
    void whatIsWrittenMeanwhileGoesElsewhereAndAStopIsNoEnd() throws IOException {
        CutStores stores = stores(seed);
        try (Volume volume = open(stores)) {
            byte[] first = contents.get("file0");
            GarbageTrial.store(volume, "open", first);
            assertThrows(
                    IOException.class,
                    () -> volume.collector().collect(CollectionLimits.leaving(FURTHER), (done, of, returned) -> false));
            assertEquals(
                    DeviceCondition.LEAVING, volume.condition().devices().get(1).state());
            long before = packs(stores.data);
            byte[] more = new byte[BYTES];
            new SplittableRandom(seed + 99).nextBytes(more);
            contents.put("more", more);
            GarbageTrial.store(volume, "more", more);
            volume.sync();
            assertTrue(packs(stores.data) > before);
        }
        try (Volume volume = open(stores)) {
            assertEquals(
                    DeviceCondition.LEAVING, volume.condition().devices().get(1).state());
            assertThrows(
                    IOException.class,
                    () -> volume.collector()
                            .collect(CollectionLimits.leaving(Path.of("other")), (done, of, returned) -> true));
            evacuate(volume);
            assertEquals(List.of(), wrongFiles(volume, contents));
        }
        assertEquals(0, packs(stores.further));
        assertEquals(List.of(), problemsOf(stores));
    }

    /** The pack that was begun last has the highest number of all, which bounds the ids that were used. */
    @Test
    void theLocationOfTheLastPackIsLeftInTheMountThatBeganIt() throws IOException {
        CutStores stores = stores(seed);
        stores.data.noSpaceAfter(1L << 40);
        stores.further.noSpaceAfter(1L << 41);
        try (Volume volume = open(stores)) {
            byte[] last = new byte[BYTES];
            new SplittableRandom(seed + 98).nextBytes(last);
            contents.put("last", last);
            long before = packs(stores.further);
            GarbageTrial.store(volume, "last", last);
            volume.sync();
            assertEquals(before + 1, packs(stores.further));
            evacuate(volume);
            assertEquals(0, packs(stores.further));
            assertEquals(List.of(), wrongFiles(volume, contents));
        }
        assertEquals(List.of(), problemsOf(stores));
    }
}
