package org.opendedup.sar.concurrent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.model.FileSystem;
import org.opendedup.sar.model.ModelFileSystem;
import org.opendedup.sar.model.SsdTroubles;
import org.opendedup.sar.model.TestVolumes;
import org.opendedup.sar.model.VolumeFileSystem;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.RawStores;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeChecker;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Simultaneous calls of a volume by many threads have an order (they are linearizable), while commits, storing and
 * freeing run in the background. A seed determines the calls, but not the interleaving of the threads.
 *
 * <p>Three results are compared less strictly. A listing counts as one look-up for each name, each at its own moment.
 * The result of a truncation says only that it was done: its attributes are from a later moment. A directory's link
 * count is compared only between the rounds: the counts of two directories do not change at one moment, and POSIX
 * requires that only of regular files and symbolic links (XSH 2.9.7).
 */
class VolumeOrderTest {
    private static final int ROUNDS = 150;
    private static final int SEEDS = 1;
    private static final int ROUNDS_WITH_SSD = 50;
    private static final int ROUNDS_WITH_RAW_FILES = 50;
    private static final int CONTROL_ROUNDS = 1000;
    /** More than the cache of a small volume holds. */
    private static final int PAST_CACHES_BYTES = 32 << 20;

    @TempDir
    Path folder;

    static LongStream seeds() {
        return TestSeed.upTo(SEEDS);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void callsAtOnceHaveAnOrder(long seed) throws IOException, InterruptedException {
        try (VolumeFileSystem volume = newVolume();
                Unrest unrest = Unrest.in(volume)) {
            Optional<String> fault = new Trial(volume, seed).run(ROUNDS);
            fault.ifPresent(text -> fail(text + "\nagain: " + TestSeed.again(getClass(), seed)));
            unrest.close();
            assertEquals(0, volume.inodesInUse());
            assertEquals(List.of(), volume.problems());
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void callsAtOnceHaveAnOrderWhileGarbageIsCollected(long seed) throws IOException, InterruptedException {
        try (VolumeFileSystem volume = newVolume();
                Unrest unrest = Unrest.in(volume)) {
            unrest.also(volume::collect);
            Optional<String> fault = new Trial(volume, seed).run(ROUNDS);
            fault.ifPresent(text -> fail(text + "\nagain: " + TestSeed.again(getClass(), seed)));
            unrest.close();
            assertEquals(0, volume.inodesInUse());
            assertEquals(List.of(), volume.problems());
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void callsAtOnceHaveAnOrderWhateverHappensToTheSsd(long seed) throws IOException, InterruptedException {
        Path ssd = Files.createDirectory(folder.resolve("ssd"));
        SsdTroubles troubles = new SsdTroubles(ssd, seed);
        VolumeConfig config = config().withSsd(ssd, SsdTroubles.SETTINGS);
        VolumeStores stores = newStores(config);
        try (VolumeFileSystem volume = new VolumeFileSystem(
                        // A volume that hashes all that it reads does not use its SSD.
                        () -> troubles.opened(Volume.open(config, stores, Verification.CHECKSUMS)),
                        VolumeChecker::check);
                Unrest unrest = Unrest.in(volume)) {
            unrest.also(troubles::happen).alsoReadPastCaches(PAST_CACHES_BYTES);
            Optional<String> fault = new Trial(volume, seed).run(ROUNDS_WITH_SSD);
            fault.ifPresent(text -> fail(text + "\nagain: " + TestSeed.again(getClass(), seed)));
            // A machine with little time may have read the SSD only where it was damaged: the unrest reads on.
            TestWait.until(() -> troubles.figures().ssdHits() > 0);
            unrest.close();
            assertEquals(0, volume.inodesInUse());
            assertEquals(List.of(), volume.problems());
        }
    }

    @Test
    void callsAtOnceHaveAnOrderWhileRawFilesAreMigrated() throws IOException, InterruptedException {
        long migrated = 0;
        for (long seed : seeds().toArray()) {
            migrated += tryWithRawFiles(seed);
        }
        // Of all trials together: one of them may find no file at rest.
        assertTrue(migrated > 0, "no file was migrated in any trial");
    }

    /** Returns how many files were migrated meanwhile. */
    private long tryWithRawFiles(long seed) throws IOException, InterruptedException {
        VolumeConfig config = RawStores.of(config());
        VolumeStores inChunks = newStores(config);
        VolumeStores stores = new VolumeStores(
                        inChunks.containers(),
                        inChunks.metadata(),
                        inChunks.index(),
                        inChunks.clock(),
                        RawStores.noCopies())
                .withRaw(new CrashRawFolder(seed).opener());
        AtomicLong migrated = new AtomicLong();
        Random random = new Random(seed);
        try (VolumeFileSystem volume = new VolumeFileSystem(
                        () -> Volume.open(config, stores, Verification.FINGERPRINTS), VolumeChecker::check);
                Unrest unrest = Unrest.in(volume)) {
            unrest.also(() -> migrated.addAndGet(volume.migrate(random)));
            Optional<String> fault = new Trial(volume, Worker.Lengths.OF_THEIR_OWN, seed).run(ROUNDS_WITH_RAW_FILES);
            fault.ifPresent(text -> fail(text + "\nagain: " + TestSeed.again(getClass(), seed)));
            unrest.close();
            assertEquals(0, volume.inodesInUse());
            assertEquals(List.of(), volume.problems());
            return migrated.get();
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aModelBehindALockIsNotAccused(long seed) throws IOException, InterruptedException {
        Optional<String> fault = new Trial(Serial.of(new ModelFileSystem()), seed).run(ROUNDS);
        fault.ifPresent(text -> fail(text + "\nagain: " + TestSeed.again(getClass(), seed)));
    }

    static Stream<Arguments> faults() {
        return Stream.of(
                Arguments.of("stale lengths", (UnaryOperator<FileSystem>) Faults::staleLengths),
                Arguments.of("stale lookups", (UnaryOperator<FileSystem>) Faults::staleLookups),
                Arguments.of("renames in two steps", (UnaryOperator<FileSystem>) Faults::renamesInTwoSteps),
                Arguments.of("writes in two steps", (UnaryOperator<FileSystem>) Faults::writesInTwoSteps));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("faults")
    void aFaultIsFound(String name, UnaryOperator<FileSystem> fault) throws IOException, InterruptedException {
        for (Worker.Lengths lengths : Worker.Lengths.values()) {
            try (FileSystem volume = newVolume()) {
                String found = new Trial(fault.apply(volume), lengths, 1)
                        .run(CONTROL_ROUNDS)
                        .orElseThrow();
                // A call that failed otherwise is another fault than the planted one.
                assertFalse(found.contains("FAILED"), found);
                assertTrue(found.contains("contradict each other"), found);
            }
        }
    }

    private static VolumeFileSystem newVolume() throws IOException {
        VolumeConfig config = config();
        VolumeStores stores = newStores(config);
        return new VolumeFileSystem(() -> Volume.open(config, stores, Verification.FINGERPRINTS), VolumeChecker::check);
    }

    private static VolumeConfig config() {
        return TestVolumes.config(Path.of("in memory"), Chunking.VARIABLE_SHA256);
    }

    /** Stores of a new volume, in memory. */
    private static VolumeStores newStores(VolumeConfig config) throws IOException {
        CrashDirectory containers = new CrashDirectory(1, false);
        CrashKeyValueStore metadata = new CrashKeyValueStore();
        InstantSource clock = InstantSource.system();
        Volume.create(config, containers, metadata, clock);
        return new VolumeStores(Jitter.on(containers), Jitter.on(metadata), new HeapChunkIndex(), clock);
    }
}
