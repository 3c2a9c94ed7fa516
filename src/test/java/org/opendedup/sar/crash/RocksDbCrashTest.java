package org.opendedup.sar.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.model.FileSystem;
import org.opendedup.sar.model.TestVolumes;
import org.opendedup.sar.model.VolumeFileSystem;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeChecker;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * A volume whose metadata is a real RocksDB that loses power: of the bytes appended to its log since the last
 * acknowledged commit any page may be missing, or the end.
 */
class RocksDbCrashTest {
    private static final int OPS = 120;
    private static final int SEEDS = 5;
    private static final int CONTROL_SEEDS = 10;
    private static final int PAGE_BYTES = 4096;
    private static final long MEMORY_BYTES = 64 << 20;
    private static final String MARK = "ACKNOWLEDGED";

    @TempDir
    Path temporary;

    private int volumes;

    static Stream<Long> seeds() {
        return TestSeed.upTo(SEEDS).boxed();
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aCrashLosesNothingThatWasSyncedAndKeepsNoVolumeDown(long seed) throws IOException {
        trial(false).check(seed, OPS, getClass());
    }

    /** The control: the log also loses a page of acknowledged changes. */
    @Test
    void aLogThatLosesWhatWasAcknowledgedIsFound() throws IOException {
        assertTrue(trial(true).finds("which were acknowledged", CONTROL_SEEDS, OPS));
    }

    private CrashTrial trial(boolean losesMore) {
        VolumeConfig config = TestVolumes.config(Path.of("in memory"), Chunking.VARIABLE_SHA256);
        return new CrashTrial(seed -> new VolumeOnRocksDb(config, seed, losesMore));
    }

    private final class VolumeOnRocksDb implements CrashableVolume {
        private final VolumeConfig config;
        private final SplittableRandom random;
        private final boolean losesMore;
        private final Path folder = temporary.resolve("volume-" + volumes++);
        private final Path found = folder.resolveSibling(folder.getFileName() + "-found");
        private final InstantSource clock = InstantSource.system();
        private final CrashDirectory containers;
        private final long seed;
        private final PowerCut power = new PowerCut(this::remember);

        /** Lengths of the logs at the power cut, and the mark. */
        private final Map<String, Long> acknowledged = new TreeMap<>();

        private byte[] mark;
        private FileSystem live;
        private KeyValueStore store;

        VolumeOnRocksDb(VolumeConfig config, long seed, boolean losesMore) {
            this.config = config;
            this.seed = seed;
            this.losesMore = losesMore;
            random = new SplittableRandom(seed);
            containers = new CrashDirectory(seed);
        }

        @Override
        public FileSystem start() throws IOException {
            store = KeyValueStores.openRocksDb(folder, MEMORY_BYTES, true);
            Volume.create(config, containers, new StaysOpen(store), clock);
            VolumeStores stores = new VolumeStores(
                    power.guard(containers), power.guard(new StaysOpen(store)), new HeapChunkIndex(), clock);
            live = new VolumeFileSystem(() -> open(stores), VolumeChecker::check);
            return live;
        }

        private Volume open(VolumeStores stores) throws IOException {
            return Volume.open(config, stores, Verification.FINGERPRINTS);
        }

        @Override
        public void cutPowerAfter(long steps) {
            power.after(steps);
        }

        @Override
        public boolean isPowerOff() {
            return power.isOff();
        }

        /** Bytes of a commit in progress come after this. */
        private void remember() {
            try {
                for (Path log : logs(folder)) {
                    acknowledged.put(log.getFileName().toString(), Files.size(log));
                }
                mark = Files.readAllBytes(folder.resolve(MARK));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public FileSystem restart() throws IOException {
            power.now();
            CrashDirectory containersLeft = containers.crash(seed);
            copyWhatIsLeft();
            try {
                live.close();
            } catch (IOException e) {
                // Expected, because the volume's stores have no power.
            }
            store.close();
            KeyValueStore metadataLeft = KeyValueStores.openRocksDb(found, MEMORY_BYTES, false);
            VolumeStores stores =
                    new VolumeStores(containersLeft, new StaysOpen(metadataLeft), new HeapChunkIndex(), clock);
            FileSystem restarted = new VolumeFileSystem(() -> open(stores), VolumeChecker::check);
            return restarted;
        }

        private void copyWhatIsLeft() throws IOException {
            Files.createDirectory(found);
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file : (Iterable<Path>) files::iterator) {
                    Files.copy(file, found.resolve(file.getFileName()));
                }
            }
            Files.write(found.resolve(MARK), mark);
            for (Path log : logs(found)) {
                long safe = acknowledged.getOrDefault(log.getFileName().toString(), 0L);
                byte[] bytes = Files.readAllBytes(log);
                Files.write(log, torn(bytes, losesMore ? 0 : (int) safe));
            }
        }

        private byte[] torn(byte[] log, int safe) {
            byte[] torn = log.clone();
            for (int page = safe / PAGE_BYTES; page * PAGE_BYTES < log.length; page++) {
                if (random.nextInt(3) == 0) {
                    int from = Math.max(safe, page * PAGE_BYTES);
                    Arrays.fill(torn, from, Math.min(log.length, (page + 1) * PAGE_BYTES), (byte) 0);
                }
            }
            int length = random.nextInt(3) == 0 ? safe + random.nextInt(log.length - safe + 1) : log.length;
            return Arrays.copyOf(torn, length);
        }
    }

    private static List<Path> logs(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".log"))
                    .sorted(Comparator.naturalOrder())
                    .toList();
        }
    }

    /** A store that a volume may close and open again; the test closes it finally. */
    private record StaysOpen(KeyValueStore store) implements KeyValueStore {
        @Override
        public byte[] get(Family family, byte[] key) throws IOException {
            return store.get(family, key);
        }

        @Override
        public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
            return store.scan(family, from, to);
        }

        @Override
        public Batch batch() throws IOException {
            return store.batch();
        }

        @Override
        public void close() {}
    }
}
