package org.opendedup.sar.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.remote.DataBarrier;
import org.opendedup.sar.metadata.remote.OwnerChangedException;
import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.metadata.remote.RemoteMetadata;
import org.opendedup.sar.metadata.remote.ShippedKeyValueStore;
import org.opendedup.sar.metadata.remote.ShippingLimits;
import org.opendedup.sar.model.FileSystem;
import org.opendedup.sar.model.TestVolumes;
import org.opendedup.sar.model.VolumeFileSystem;
import org.opendedup.sar.objects.MemoryObjectStore;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeChecker;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * A volume whose machine is lost: another one opens it from the containers and from an object store with the metadata.
 */
class RemoteMetadataCrashTest {
    private static final int OPS = 120;
    private static final int SEEDS = 4;
    private static final int CONTROL_SEEDS = 10;
    private static final long MEMORY_BYTES = 16 << 20;

    @MemoryFolder
    Path temporary;

    private final List<ShippedKeyValueStore> opened = new ArrayList<>();
    private int volumes;

    @AfterEach
    void close() throws IOException {
        for (ShippedKeyValueStore store : opened) {
            store.close();
        }
    }

    static Stream<Long> seeds() {
        return TestSeed.upTo(SEEDS).boxed();
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void anotherMachineFindsEverythingThatWasSynced(long seed) throws IOException {
        trial(Promise.REMOTE).check(seed, OPS, getClass());
    }

    /** The control: commits that do not wait for the store. */
    @Test
    void whatIsOnlyOnTheLocalDiskIsLost() throws IOException {
        assertTrue(trial(Promise.LOCAL).findsALoss(CONTROL_SEEDS, OPS));
    }

    private CrashTrial trial(Promise promise) {
        VolumeConfig config = TestVolumes.config(Path.of("in memory"), Chunking.VARIABLE_SHA256);
        return new CrashTrial(seed -> new RemoteVolume(config, seed, promise));
    }

    private final class RemoteVolume implements CrashableVolume {
        private final VolumeConfig config;
        private final long seed;
        private final Path folder = temporary.resolve("volume-" + volumes++);
        private final MemoryObjectStore objects = new MemoryObjectStore();
        private final RemoteMetadata remote =
                new RemoteMetadata(objects, new UUID(1, 2), null, MEMORY_BYTES, InstantSource.system());
        private final RemoteMetadata.Shipping how;
        private final CrashDirectory containers;
        private final PowerCut power = new PowerCut();
        private FileSystem live;
        private ShippedKeyValueStore store;

        RemoteVolume(VolumeConfig config, long seed, Promise promise) {
            this.config = config;
            this.seed = seed;
            how = new RemoteMetadata.Shipping(promise, DataBarrier.NONE, ShippingLimits.DEFAULT);
            containers = new CrashDirectory(seed);
        }

        @Override
        public FileSystem start() throws IOException {
            store = remote.create(folder, how);
            Volume.create(config, containers, new StaysOpen(store), InstantSource.system());
            store.ship();
            live = new VolumeFileSystem(
                    () -> open(new VolumeStores(
                            power.guard(containers),
                            power.guard(new StaysOpen(store)),
                            new HeapChunkIndex(),
                            InstantSource.system())),
                    VolumeChecker::check);
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

        @Override
        public FileSystem restart() throws IOException {
            power.now();
            CrashDirectory containersLeft = containers.crash(seed);
            ShippedKeyValueStore elsewhere = remote.open(folder.resolveSibling(folder.getFileName() + "-found"), how);
            opened.add(elsewhere);
            try {
                live.close();
            } catch (IOException e) {
                // Expected, because the volume's stores have no power.
            }
            try {
                store.close();
            } catch (OwnerChangedException e) {
                // Expected, if it had something that is not in the store.
            }
            return new VolumeFileSystem(
                    () -> open(new VolumeStores(
                            containersLeft, new StaysOpen(elsewhere), new HeapChunkIndex(), InstantSource.system())),
                    VolumeChecker::check);
        }
    }

    /** A store that a volume may close and open again. */
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
