package org.opendedup.sar.model;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.copies.BlindSsd;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.RawStores;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeChecker;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.store.VolumeStores;

/** A whole volume on real files behaves like the model. */
class VolumeModelTest {
    private static final int OPS = 300;
    private static final int OPS_PER_USE = 40;
    private static final int SEEDS = 1;
    private static final int SEEDS_WITH_SSD = 3;
    private static final int SEEDS_OF_CONTROLS = 8;
    private static final int CALLS_PER_COLLECTION = 97;
    private static final int CALLS_PER_MIGRATION = 31;
    private static final int CALLS_PER_SNAPSHOT = 83;
    /** More often, because none is made while a raw file is open for writing. */
    private static final int CALLS_WITH_RAW_FILES = 5;

    @TempDir
    Path folder;

    static Stream<Arguments> seedsAndChunkings() {
        return TestSeed.upTo(SEEDS)
                .boxed()
                .flatMap(seed -> Stream.of(Chunking.values()).map(chunking -> Arguments.of(seed, chunking)));
    }

    @ParameterizedTest
    @MethodSource("seedsAndChunkings")
    void aVolumeDoesWhatTheModelDoes(long seed, Chunking chunking) throws IOException {
        new Comparison(() -> newVolume(chunking)).check(seed, OPS, getClass());
    }

    @ParameterizedTest
    @MethodSource("seedsAndChunkings")
    void itStillDoesWhileGarbageIsCollected(long seed, Chunking chunking) throws IOException {
        AtomicLong collected = new AtomicLong();
        new Comparison(() -> collecting(newVolume(chunking), collected)).check(seed, OPS, getClass());
        assertTrue(collected.get() > 0, "there was never any garbage");
    }

    /** Returns a file system that collects garbage before every n-th call. */
    private static FileSystem collecting(VolumeFileSystem volume, AtomicLong collected) {
        int[] calls = new int[1];
        return BeforeCalls.of(volume, method -> {
            if (++calls[0] % CALLS_PER_COLLECTION == 0) {
                collected.addAndGet(volume.collect());
            }
        });
    }

    @ParameterizedTest
    @MethodSource("seedsAndChunkings")
    void itStillDoesWhileFilesAreMigrated(long seed, Chunking chunking) throws IOException {
        AtomicLong migrated = new AtomicLong();
        new Comparison(() -> migrating(newVolumeWithRawFiles(chunking), seed, migrated)).check(seed, OPS, getClass());
        assertTrue(migrated.get() > 0, "no file was migrated");
    }

    @ParameterizedTest
    @MethodSource("seedsAndChunkings")
    void itStillDoesWhileSnapshotsAreMadeAndStayAsTheyWere(long seed, Chunking chunking) throws IOException {
        AtomicLong compared = new AtomicLong();
        new Comparison(() -> withSnapshots(newVolume(chunking), seed, CALLS_PER_SNAPSHOT, compared))
                .check(seed, OPS, getClass());
        assertTrue(compared.get() > 0, "no snapshot was compared");
    }

    @ParameterizedTest
    @MethodSource("seedsAndChunkings")
    void itStillDoesWhileSnapshotsAreMadeOfRawFiles(long seed, Chunking chunking) throws IOException {
        AtomicLong compared = new AtomicLong();
        new Comparison(() -> withSnapshots(newVolumeWithRawFiles(chunking), seed, CALLS_WITH_RAW_FILES, compared))
                .check(seed, OPS, getClass());
        assertTrue(compared.get() > 0, "no snapshot was compared");
    }

    /** Returns a file system that compares, deletes and makes snapshots before every n-th call. */
    private static FileSystem withSnapshots(VolumeFileSystem volume, long seed, int callsEach, AtomicLong compared) {
        int[] calls = new int[1];
        Random random = new Random(seed);
        return BeforeCalls.of(volume, method -> {
            if (++calls[0] % callsEach == 0) {
                compared.addAndGet(volume.compareSnapshots(random));
            }
        });
    }

    /** Returns a file system that migrates some files before every n-th call. */
    private static FileSystem migrating(VolumeFileSystem volume, long seed, AtomicLong migrated) {
        int[] calls = new int[1];
        Random random = new Random(seed);
        return BeforeCalls.of(volume, method -> {
            if (++calls[0] % CALLS_PER_MIGRATION == 0) {
                migrated.addAndGet(volume.migrate(random));
            }
        });
    }

    /**
     * In memory: what a real file system says of holes changes whenever it writes its cache to the disk, so that no
     * model can know it.
     */
    private static VolumeFileSystem newVolumeWithRawFiles(Chunking chunking) throws IOException {
        VolumeConfig config = RawStores.of(TestVolumes.config(Path.of("in memory"), chunking));
        CrashDirectory containers = new CrashDirectory(1, false);
        CrashKeyValueStore metadata = new CrashKeyValueStore();
        CrashRawFolder raw = new CrashRawFolder(1);
        InstantSource clock = InstantSource.system();
        Volume.create(config, containers, metadata, clock);
        VolumeStores stores = new VolumeStores(containers, metadata, new HeapChunkIndex(), clock, RawStores.noCopies())
                .withRaw(raw.opener());
        return new VolumeFileSystem(() -> Volume.open(config, stores, Verification.CHECKSUMS), VolumeChecker::check);
    }

    @Test
    void itStillDoesWhateverHappensToItsSsd() throws IOException {
        List<SsdTroubles.Figures> all = new ArrayList<>();
        for (long seed : TestSeed.upTo(SEEDS_WITH_SSD).toArray()) {
            // One chunking per seed: the behaviour of the SSD hardly depends on both at once.
            Chunking chunking = Chunking.values()[Math.floorMod(seed, Chunking.values().length)];
            List<SsdTroubles> troubles = new ArrayList<>();
            new Comparison(() -> newVolumeWithSsd(chunking, seed, troubles, false))
                    .check(seed, withSsdInUse(seed, OPS), getClass());
            all.add(troubles.get(0).past());
        }
        // A given seed need not satisfy all of it.
        boolean many = all.size() >= SEEDS_WITH_SSD;
        assertAll(
                "the SSD was not put to the test: " + all,
                () -> assertTrue(all.stream().allMatch(figures -> figures.promoted() > 0)),
                () -> assertTrue(all.stream().allMatch(figures -> figures.ssdHits() > 0)),
                () -> assertTrue(!many || all.stream().anyMatch(figures -> figures.demotedBySpace() > 0)),
                () -> assertTrue(!many || all.stream().anyMatch(figures -> figures.damaged() > 0)));
    }

    @Test
    void damageIsFoundIfItIsDoneToTheHomeCopiesAsWell() throws IOException {
        assertTrue(isFound(seed -> newVolumeWithSsd(Chunking.SHA256, seed, new ArrayList<>(), true)));
    }

    @Test
    void wrongBytesOfAnSsdAreFoundIfNobodyChecksThem() throws IOException {
        assertTrue(isFound(seed -> newVolumeInMemory(BlindSsd::open, seed)));
    }

    /** Makes a file system whose SSD has the troubles of a seed. */
    private interface Troubled {
        FileSystem make(long seed) throws IOException;
    }

    /**
     * Whether the results of one seed differ. The promoters decide in their own time what lies on the SSD when it is
     * damaged, so that now and then a seed damages nothing that is read.
     */
    private static boolean isFound(Troubled made) throws IOException {
        for (long seed = 1; seed <= SEEDS_OF_CONTROLS; seed++) {
            long troubles = seed;
            if (new Comparison(() -> made.make(troubles))
                    .run(withSsdInUse(seed, OPS))
                    .isPresent()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Random ops. Regularly two files get the same bytes, so that chunks are promoted to the SSD, and everything is
     * read after a remount: only data in no cache is read from the SSD.
     */
    private static List<Op> withSsdInUse(long seed, int count) {
        List<Op> ops = new ArrayList<>();
        for (Op op : new OpGenerator(seed, true).ops(count)) {
            if (ops.size() % OPS_PER_USE == 0) {
                ops.addAll(Pairs.write(ops.size() / OPS_PER_USE));
                ops.addAll(List.of(new Op.Remount(), new Op.Verify()));
            }
            ops.add(op);
        }
        return ops;
    }

    private FileSystem newVolumeWithSsd(Chunking chunking, long seed, List<SsdTroubles> made, boolean damagesHomes)
            throws IOException {
        Path own = Files.createTempDirectory(folder, "volume");
        Path ssd = own.resolve("ssd");
        VolumeConfig config = TestVolumes.config(own, chunking).withSsd(ssd, SsdTroubles.SETTINGS);
        SsdTroubles troubles = new SsdTroubles(ssd, seed);
        if (damagesHomes) {
            troubles.damageToo(config.locations().data());
        }
        made.add(troubles);
        Volume.create(config);
        return troubles.amid(new VolumeFileSystem(() -> troubles.opened(Volume.open(config)), VolumeChecker::check));
    }

    /** Its SSD is damaged like that of {@link #newVolumeWithSsd}, and opened differently. */
    private FileSystem newVolumeInMemory(HotChunks.Opener tier, long seed) throws IOException {
        Path own = Files.createTempDirectory(folder, "volume");
        Path ssd = Files.createDirectory(own.resolve("ssd"));
        VolumeConfig config = TestVolumes.config(own, Chunking.SHA256).withSsd(ssd, SsdTroubles.SETTINGS);
        CrashDirectory containers = new CrashDirectory(1, false);
        CrashKeyValueStore metadata = new CrashKeyValueStore();
        InstantSource clock = InstantSource.system();
        Volume.create(config, containers, metadata, clock);
        VolumeStores stores = new VolumeStores(containers, metadata, new HeapChunkIndex(), clock, tier);
        SsdTroubles troubles = new SsdTroubles(ssd, seed);
        return troubles.amid(new VolumeFileSystem(
                () -> troubles.opened(Volume.open(config, stores, Verification.CHECKSUMS)), VolumeChecker::check));
    }

    private VolumeFileSystem newVolume(Chunking chunking) throws IOException {
        VolumeConfig config = TestVolumes.config(Files.createTempDirectory(folder, "volume"), chunking);
        Volume.create(config);
        return new VolumeFileSystem(() -> Volume.open(config), VolumeChecker::check);
    }
}
