package org.opendedup.sar.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.FullKeyValueStore;
import org.opendedup.sar.model.BeforeCalls;
import org.opendedup.sar.model.FileSystem;
import org.opendedup.sar.model.Op;
import org.opendedup.sar.model.TestVolumes;
import org.opendedup.sar.model.VolumeFileSystem;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeChecker;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.store.DataLocations;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * A whole volume whose stores lose power: containers keep only forced bytes, metadata only committed changes, the index
 * nothing.
 */
class VolumeCrashTest {
    private static final int OPS = 250;
    private static final int SEEDS = 4;
    private static final int CONTROL_SEEDS = 40;
    private static final int OPS_PER_MOUNT = 25;
    private static final int CALLS_PER_COLLECTION = 23;

    /** Whether the stores keep their promises; each control breaks one. */
    enum Promise {
        KEPT,
        FORCE_DOES_NOTHING,
        COMMIT_IS_NOT_DURABLE
    }

    static Stream<Arguments> seedsAndChunkings() {
        return TestSeed.upTo(SEEDS)
                .boxed()
                .flatMap(seed -> Stream.of(Chunking.values()).map(chunking -> Arguments.of(seed, chunking)));
    }

    @ParameterizedTest
    @MethodSource("seedsAndChunkings")
    void aCrashLosesNothingThatWasSynced(long seed, Chunking chunking) throws IOException {
        trial(chunking, Promise.KEPT).check(seed, OPS, getClass());
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "KEPT")
    void aBrokenPromiseIsFound(Promise promise) throws IOException {
        assertTrue(trial(Chunking.VARIABLE_SHA256, promise).findsALoss(CONTROL_SEEDS, OPS));
    }

    @Test
    void aCrashWhileSpaceIsShortLosesNothingThatWasSynced() throws IOException {
        AtomicInteger refusals = new AtomicInteger();
        for (long seed : TestSeed.upTo(SEEDS).toArray()) {
            for (Chunking chunking : Chunking.values()) {
                scarceTrial(chunking, Promise.KEPT, refusals).check(seed, OPS, getClass());
            }
        }
        assertTrue(refusals.get() > SEEDS, () -> "space is hardly ever short: " + refusals);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "KEPT")
    void aBrokenPromiseIsFoundWhileSpaceIsShort(Promise promise) throws IOException {
        CrashTrial trial = scarceTrial(Chunking.VARIABLE_SHA256, promise, new AtomicInteger());
        assertTrue(trial.findsALoss(CONTROL_SEEDS, OPS));
    }

    @ParameterizedTest
    @MethodSource("seedsAndChunkings")
    void aCrashWhileGarbageIsCollectedLosesNothingThatWasSynced(long seed, Chunking chunking) throws IOException {
        collectingTrial(chunking, Promise.KEPT, new AtomicInteger()).check(seed, OPS, getClass());
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "KEPT")
    void aBrokenPromiseIsFoundWhileGarbageIsCollected(Promise promise) throws IOException {
        AtomicInteger collected = new AtomicInteger();
        assertTrue(collectingTrial(Chunking.SHA256, promise, collected).findsALoss(CONTROL_SEEDS, OPS));
        collectingTrial(Chunking.SHA256, Promise.KEPT, collected).check(1, OPS, getClass());
        assertTrue(collected.get() > 0, "there was never any garbage");
    }

    /** Mounting again completes the containers: only these are collected. */
    private static CrashTrial collectingTrial(Chunking chunking, Promise promise, AtomicInteger collected) {
        VolumeConfig config = TestVolumes.config(Path.of("in memory"), chunking);
        return new CrashTrial(seed -> new CollectingVolume(config, promise, seed, collected), ops -> {
            List<Op> more = new ArrayList<>();
            for (Op op : ops) {
                more.add(op);
                if (more.size() % OPS_PER_MOUNT == 0) {
                    more.add(new Op.Remount());
                }
            }
            return more;
        });
    }

    /** A volume that collects its garbage before every n-th call. */
    private static final class CollectingVolume extends VolumeInMemory {
        private final AtomicInteger collected;
        private int calls;

        CollectingVolume(VolumeConfig config, Promise promise, long seed, AtomicInteger collected) {
            super(config, promise, seed);
            this.collected = collected;
        }

        @Override
        public FileSystem start() throws IOException {
            VolumeFileSystem volume = (VolumeFileSystem) super.start();
            return BeforeCalls.of(volume, method -> {
                if (++calls % CALLS_PER_COLLECTION == 0) {
                    collected.addAndGet((int) volume.collect());
                }
            });
        }
    }

    @Test
    void aCrashWithTwoDataLocationsLosesNothingThatWasSynced() throws IOException {
        AtomicInteger packs = new AtomicInteger();
        for (long seed : TestSeed.upTo(SEEDS).toArray()) {
            for (Chunking chunking : Chunking.values()) {
                spreadTrial(chunking, Promise.KEPT, packs).check(seed, OPS, getClass());
            }
        }
        assertTrue(packs.get() > SEEDS, () -> "the further location has hardly any pack: " + packs);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "KEPT")
    void aBrokenPromiseIsFoundInTwoDataLocations(Promise promise) throws IOException {
        assertTrue(spreadTrial(Chunking.VARIABLE_SHA256, promise, new AtomicInteger())
                .findsALoss(CONTROL_SEEDS, OPS));
    }

    private static CrashTrial spreadTrial(Chunking chunking, Promise promise, AtomicInteger packs) {
        VolumeConfig config = TestVolumes.config(Path.of("in memory"), chunking);
        return new CrashTrial(seed -> new SpreadVolume(config, promise, seed, packs));
    }

    /** Its packs lie in two directories, of which the one with more space gets the next pack. */
    private static final class SpreadVolume extends VolumeInMemory {
        private static final long FREE_BYTES = 1L << 40;
        /** By which the further one has more until it has a pack. */
        private static final long FIRST_BYTES = 1 << 20;

        private final AtomicInteger packs;
        private CrashDirectory further;

        SpreadVolume(VolumeConfig config, Promise promise, long seed, AtomicInteger packs) {
            super(config, promise, seed);
            this.packs = packs;
            further = new CrashDirectory(seed + 1);
        }

        @Override
        Directory data(CrashDirectory first, UnaryOperator<Directory> guard) throws IOException {
            first.noSpaceAfter(FREE_BYTES);
            further.noSpaceAfter(FREE_BYTES + FIRST_BYTES);
            DataLocations.prepare(first, further);
            further.setForceDoesNothing(isForceBroken());
            return DataLocations.of(guard.apply(first), guard.apply(further));
        }

        @Override
        Directory left(CrashDirectory first, long seed) throws IOException {
            further = further.crash(seed);
            packs.addAndGet((int) further.list().stream()
                    .filter(name -> PackFormat.numberOf(name).isPresent())
                    .count());
            first.noSpaceAfter(FREE_BYTES);
            further.noSpaceAfter(FREE_BYTES + FIRST_BYTES);
            return DataLocations.of(first, further);
        }
    }

    private static CrashTrial scarceTrial(Chunking chunking, Promise promise, AtomicInteger refusals) {
        VolumeConfig config = TestVolumes.config(Path.of("in memory"), chunking);
        return new CrashTrial(seed -> new ScarceVolume(config, promise, seed, refusals));
    }

    /** Its stores are full from time to time. */
    private static final class ScarceVolume extends VolumeInMemory {
        private final Scarcity scarcity;
        private final AtomicInteger refusals;

        ScarceVolume(VolumeConfig config, Promise promise, long seed, AtomicInteger refusals) {
            super(config, promise, seed);
            this.refusals = refusals;
            scarcity = new Scarcity(seed, containers, metadataThatFills);
        }

        @Override
        public FileSystem start() throws IOException {
            return scarcity.guard(super.start());
        }

        @Override
        void afterCrash() {
            refusals.addAndGet(scarcity.refusals());
        }
    }

    private static CrashTrial trial(Chunking chunking, Promise promise) {
        // Nothing is stored in the locations: the stores are in memory.
        VolumeConfig config = TestVolumes.config(Path.of("in memory"), chunking);
        return new CrashTrial(seed -> new VolumeInMemory(config, promise, seed));
    }

    /** Its stores are in memory; a subclass defines the rest. */
    static class VolumeInMemory implements CrashableVolume {
        private final VolumeConfig config;
        private final Promise promise;
        private final long seed;
        private final InstantSource clock = InstantSource.system();
        final CrashDirectory containers;
        private final CrashKeyValueStore metadata = new CrashKeyValueStore();
        // A commit in progress at that moment is uncertain.
        private final PowerCut power = new PowerCut(() -> metadata.failNextCommits(1));
        final FullKeyValueStore metadataThatFills = new FullKeyValueStore(metadata);
        private FileSystem live;

        VolumeInMemory(VolumeConfig config, Promise promise, long seed) {
            this.config = config;
            this.seed = seed;
            this.promise = promise;
            containers = new CrashDirectory(seed);
        }

        @Override
        public FileSystem start() throws IOException {
            Volume.create(config, containers, metadata, clock);
            containers.setForceDoesNothing(promise == Promise.FORCE_DOES_NOTHING);
            metadata.setCommitIsNotDurable(promise == Promise.COMMIT_IS_NOT_DURABLE);
            VolumeStores stores = new VolumeStores(
                    data(containers, power::guard), power.guard(metadataThatFills), new HeapChunkIndex(), clock);
            live = new VolumeFileSystem(() -> open(config, stores), VolumeChecker::check);
            return live;
        }

        /** Returns the data location, or several. */
        Directory data(CrashDirectory first, UnaryOperator<Directory> guard) throws IOException {
            return guard.apply(first);
        }

        /** Returns what a crash left of them. */
        Directory left(CrashDirectory first, long seed) throws IOException {
            return first;
        }

        final boolean isForceBroken() {
            return promise == Promise.FORCE_DOES_NOTHING;
        }

        @Override
        public void cutPowerAfter(long steps) {
            power.after(steps);
        }

        @Override
        public boolean isPowerOff() {
            return power.isOff();
        }

        @Override
        public FileSystem restart() throws IOException {
            power.now();
            CrashKeyValueStore metadataLeft = metadata.crash(seed);
            CrashDirectory containersLeft = containers.crash(seed);
            try {
                live.close();
            } catch (IOException e) {
                // Expected, because the volume's stores have no power.
            }
            afterCrash();
            Directory data = left(containersLeft, seed);
            VolumeStores stores = new VolumeStores(data, metadataLeft, new HeapChunkIndex(), clock);
            return new VolumeFileSystem(() -> open(config, stores), VolumeChecker::check);
        }

        Volume open(VolumeConfig config, VolumeStores stores) throws IOException {
            return Volume.open(config, stores, Verification.FINGERPRINTS);
        }

        /** The dead volume is discarded, and the next one is not opened yet. */
        void afterCrash() throws IOException {}
    }
}
