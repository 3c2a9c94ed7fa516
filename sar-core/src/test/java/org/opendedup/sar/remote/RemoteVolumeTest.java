package org.opendedup.sar.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.HookedKeyValueStore;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.objects.FolderObjectStore;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.volume.RandomTree;
import org.opendedup.sar.volume.TreeDigest;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * A volume whose packs are in a store is opened on another machine: at each moment it shows what the metadata in the
 * store say, whatever was written, collected and opened since.
 */
@Timeout(300)
final class RemoteVolumeTest {
    private static final int ROUNDS = 12;

    /** What a shipper of metadata does wrong. */
    private enum Fault {
        NONE,
        DOES_NOT_AWAIT,
        SAYS_TOO_EARLY
    }

    @MemoryFolder
    Path folder;

    @Test
    void anotherMachineShowsWhatTheMetadataInTheStoreSay() throws IOException {
        for (long seed : TestSeed.upTo(3).toArray()) {
            try (Trial trial = new Trial(seed, Fault.NONE)) {
                trial.run();
            }
        }
    }

    @Test
    void controlMetadataThatDoNotAwaitTheirPacksAreFoundOut() throws IOException {
        assertTrue(isFoundOut(Fault.DOES_NOT_AWAIT));
    }

    @Test
    void controlPacksThatAreDeletedTooEarlyAreFoundOut() throws IOException {
        assertTrue(isFoundOut(Fault.SAYS_TOO_EARLY));
    }

    private boolean isFoundOut(Fault fault) throws IOException {
        for (long seed = 0; seed < 5; seed++) {
            try (Trial trial = new Trial(seed, fault)) {
                trial.run();
            } catch (IOException | AssertionError e) {
                return true;
            }
        }
        return false;
    }

    /** Metadata as of a commit. */
    private record Copy(HeapKeyValueStore metadata, long mark, Map<String, String> shows) {}

    private final class Trial implements Closeable {
        private final SplittableRandom random;
        private final RandomTree tree;
        private final Fault fault;
        private final Path place;
        private final HookedObjectStore store;
        private final VolumeConfig config;
        private final HeapKeyValueStore metadata = new HeapKeyValueStore();
        private final Deque<Copy> notShipped = new ArrayDeque<>();
        private RemoteDirectory directory;
        private Volume volume;
        private int machines;

        Trial(long seed, Fault fault) throws IOException {
            random = new SplittableRandom(seed);
            tree = new RandomTree(random);
            this.fault = fault;
            place = Files.createTempDirectory(folder, "trial");
            store = new HookedObjectStore(FolderObjectStore.open(Files.createDirectories(place.resolve("store"))));
            config = VolumeConfigs.in(place, 4L << 30, Chunking.VARIABLE_SHA256);
            directory = open("staging", store);
            Volume.create(config, directory, metadata, InstantSource.system());
            volume = open(directory, metadata);
        }

        private RemoteDirectory open(String staging, ObjectStore objects) throws IOException {
            Path local = Files.createDirectories(place.resolve(staging));
            // Nothing stays in the folder that the store has: so each read of it is one of the store.
            return RemoteDirectory.open(
                    FileDirectory.open(local), objects, new RemoteDirectory.Bounds(0, 8 << 20), "trial");
        }

        private Volume open(RemoteDirectory data, HeapKeyValueStore records) throws IOException {
            HookedKeyValueStore<HeapKeyValueStore> hooked = new HookedKeyValueStore<>(records) {
                @Override
                protected void commit(Batch batch) throws IOException {
                    super.commit(batch);
                    // As metadata that follow into the store do.
                    data.mark();
                }
            };
            return Volume.open(
                    config,
                    new VolumeStores(data, hooked, new HeapChunkIndex(), InstantSource.system()),
                    Verification.FINGERPRINTS);
        }

        void run() throws IOException {
            for (int round = 0; round < ROUNDS; round++) {
                tree.change(volume, 10 + random.nextInt(30));
                commit();
                if (random.nextInt(3) == 0) {
                    volume.context()
                            .collector()
                            .collect(new CollectionLimits(0, false), (done, bytes, returned) -> true);
                    commit();
                }
                if (random.nextInt(3) == 0) {
                    reopen();
                }
                if (random.nextInt(2) == 0) {
                    ship();
                }
            }
        }

        private void commit() throws IOException {
            volume.sync();
            HeapKeyValueStore copy = copyOf(metadata);
            notShipped.add(new Copy(copy, directory.mark(), TreeDigest.of(volume, Inode.ROOT)));
        }

        private void reopen() throws IOException {
            volume.close();
            directory.close();
            directory = open("staging", store);
            volume = open(directory, metadata);
            notShipped.clear();
            commit();
        }

        /** Puts the metadata of one of the last commits into the store, and looks at them from another machine. */
        private void ship() throws IOException {
            Copy copy = notShipped.remove();
            long newest = notShipped.isEmpty() ? copy.mark : notShipped.getLast().mark;
            if (fault != Fault.DOES_NOT_AWAIT) {
                directory.await(copy.mark);
            }
            directory.shipped(fault == Fault.SAYS_TOO_EARLY ? newest : copy.mark);
            directory.deleteDue();
            takeOver(copy);
            if (notShipped.isEmpty()) {
                commit();
            }
        }

        private void takeOver(Copy copy) throws IOException {
            String staging = "machine" + machines++;
            Path local = Files.createDirectories(place.resolve(staging));
            Files.copy(place.resolve("staging").resolve("volume.id"), local.resolve("volume.id"));
            // It has the objects to itself: here nothing keeps the former owner from writing.
            Path objects = place.resolve("objects" + machines);
            try (Stream<Path> all = Files.walk(place.resolve("store"))) {
                for (Path each : all.toList()) {
                    Files.copy(each, objects.resolve(place.resolve("store").relativize(each)));
                }
            }
            try (RemoteDirectory data = open(staging, FolderObjectStore.open(objects))) {
                Volume other = open(data, copy.metadata);
                try {
                    assertEquals(copy.shows, TreeDigest.of(other, Inode.ROOT));
                } finally {
                    other.close();
                }
            }
        }

        private HeapKeyValueStore copyOf(HeapKeyValueStore from) throws IOException {
            HeapKeyValueStore copy = new HeapKeyValueStore();
            try (var batch = copy.batch()) {
                for (var family : HeapKeyValueStore.Family.values()) {
                    try (var cursor = from.scan(family, Keys.FIRST, Keys.END)) {
                        while (cursor.next()) {
                            batch.put(family, cursor.key(), cursor.value());
                        }
                    }
                }
                batch.commit();
            }
            return copy;
        }

        @Override
        public void close() throws IOException {
            volume.close();
            directory.close();
        }
    }
}
