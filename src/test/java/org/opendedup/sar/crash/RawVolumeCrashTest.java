package org.opendedup.sar.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.model.BeforeCalls;
import org.opendedup.sar.model.FileSystem;
import org.opendedup.sar.model.TestVolumes;
import org.opendedup.sar.model.VolumeFileSystem;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.RawFolder;
import org.opendedup.sar.raw.RawStores;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeChecker;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * A whole volume whose new files lie on the fast tier and are migrated between calls. Its stores and the fast tier lose
 * power at the same moment.
 */
class RawVolumeCrashTest {
    private static final int OPS = 250;
    private static final int SEEDS = 8;
    private static final int CONTROL_SEEDS = 40;
    private static final int CALLS_PER_MIGRATION = 29;

    /** Whether the stores keep their promises; each control breaks one. */
    enum Promise {
        KEPT,
        FORCE_OF_RAW_FILES_DOES_NOTHING,
        COMMIT_IS_NOT_DURABLE
    }

    @Test
    void aCrashLosesNothingThatWasSynced() throws IOException {
        AtomicInteger migrated = new AtomicInteger();
        AtomicInteger changed = new AtomicInteger();
        for (long seed : TestSeed.upTo(SEEDS).toArray()) {
            trial(Promise.KEPT, migrated, changed).check(seed, OPS, getClass());
        }
        assertTrue(migrated.get() > 0, "no file was migrated");
        assertTrue(changed.get() > 0, "no migrated file was changed on the fast tier");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "KEPT")
    void aBrokenPromiseIsFound(Promise promise) throws IOException {
        assertTrue(trial(promise, new AtomicInteger(), new AtomicInteger()).findsALoss(CONTROL_SEEDS, OPS));
    }

    /** @param changed counts the migrated files that were changed on the fast tier */
    private static CrashTrial trial(Promise promise, AtomicInteger migrated, AtomicInteger changed) {
        return CrashTrial.withRawFiles(seed -> new MigratingVolume(promise, seed, migrated, changed));
    }

    /** A volume in memory that migrates some of its files before every n-th call. */
    private static final class MigratingVolume implements CrashableVolume {
        private final VolumeConfig config =
                RawStores.of(TestVolumes.config(Path.of("in memory"), Chunking.VARIABLE_SHA256));
        private final InstantSource clock = InstantSource.system();
        private final CrashDirectory containers;
        private final CrashKeyValueStore metadata = new CrashKeyValueStore();
        private final CrashRawFolder raw;
        private final PowerCut power = new PowerCut(() -> metadata.failNextCommits(1));
        private final Promise promise;
        private final long seed;
        private final AtomicInteger migrated;
        private final AtomicInteger changed;
        private VolumeFileSystem live;
        private int calls;

        MigratingVolume(Promise promise, long seed, AtomicInteger migrated, AtomicInteger changed) {
            this.seed = seed;
            this.migrated = migrated;
            this.changed = changed;
            containers = new CrashDirectory(seed);
            raw = new CrashRawFolder(seed, promise == Promise.FORCE_OF_RAW_FILES_DOES_NOTHING);
            this.promise = promise;
        }

        private VolumeFileSystem open(CrashDirectory data, KeyValueStore database, RawFolder folder)
                throws IOException {
            VolumeStores stores = new VolumeStores(
                            power.isOff() ? data : power.guard(data),
                            database,
                            new HeapChunkIndex(),
                            clock,
                            RawStores.noCopies())
                    .withRaw(volume -> folder);
            return new VolumeFileSystem(
                    () -> Volume.open(config, stores, Verification.FINGERPRINTS), VolumeChecker::check);
        }

        @Override
        public FileSystem start() throws IOException {
            Volume.create(config, containers, metadata, clock);
            metadata.setCommitIsNotDurable(promise == Promise.COMMIT_IS_NOT_DURABLE);
            VolumeFileSystem volume = open(containers, power.guard(metadata), power.guard(raw));
            Random random = new Random(seed);
            // Closed by itself: a migration that fails before that call would leave it open.
            live = volume;
            return BeforeCalls.of(volume, method -> {
                if (++calls % CALLS_PER_MIGRATION == 0) {
                    migrated.addAndGet(volume.migrate(random));
                }
            });
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
            changed.addAndGet(raw.partsMade());
            CrashKeyValueStore metadataLeft = metadata.crash(seed);
            CrashDirectory containersLeft = containers.crash(seed);
            CrashRawFolder rawLeft = raw.crash(seed);
            try {
                live.close();
            } catch (IOException e) {
                // Expected, because the volume's stores have no power.
            }
            return open(containersLeft, metadataLeft, rawLeft);
        }
    }
}
