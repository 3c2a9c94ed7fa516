package org.opendedup.sar.volume;

import static org.opendedup.sar.metadata.PresentRecords.of;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.MetadataRecords.Version;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.volume.CutStores.Promise;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Cuts the power at each change that making and deleting snapshots, changes between them, and the collection after them
 * make. After each cut, the snapshots that were made are there as they were, those that were deleted are not, and what
 * is deleted afterwards frees all that it had.
 */
class SnapshotCrashTest extends CrashRun<Volume> {
    private static final int CHANGES = 12;

    @MemoryFolder
    Path folder;

    private final CrashDirectory data = new CrashDirectory(seed);
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private VolumeConfig config;
    /** What the snapshots that exist showed when they were made. */
    private final Map<String, Map<String, String>> made = new TreeMap<>();
    /** The same of one whose creation or deletion was under way. */
    private final Map<String, Map<String, String>> underWay = new TreeMap<>();

    private void make() throws IOException {
        config = VolumeConfigs.in(folder, 100L << 30, Chunking.VARIABLE_SHA256);
        Files.createDirectories(config.locations().metadata());
        Volume.create(config, data, metadata, InstantSource.system());
        // It remembers its batches, so that copies can be made of it any number of times.
        metadata.crash(seed);
    }

    @Override
    CutStores stores(long crashSeed) throws IOException {
        made.clear();
        underWay.clear();
        return new CutStores(data.crash(crashSeed), metadata.crash(0));
    }

    @Override
    Volume open(CutStores stores) throws IOException {
        VolumeStores opened =
                new VolumeStores(stores.data(), stores.metadata(), new HeapChunkIndex(), InstantSource.system());
        return Volume.open(config, opened, Verification.CHECKSUMS);
    }

    @Override
    void run(Volume volume) throws IOException {
        RandomTree tree = new RandomTree(new SplittableRandom(seed));
        tree.change(volume, 2 * CHANGES);
        create(volume, "first");
        tree.change(volume, CHANGES);
        volume.sync();
        tree.change(volume, CHANGES);
        create(volume, "second");
        tree.change(volume, CHANGES);
        delete(volume, "first");
        tree.change(volume, CHANGES);
        create(volume, "third");
        tree.change(volume, CHANGES);
        volume.sync();
        delete(volume, "third");
        GarbageTrial.collect(volume, 0);
    }

    private void create(Volume volume, String name) throws IOException {
        underWay.put(name, TreeDigest.of(volume, Inode.ROOT));
        volume.snapshots().create(name, 0, false);
        made.put(name, underWay.remove(name));
    }

    private void delete(Volume volume, String name) throws IOException {
        underWay.put(name, made.remove(name));
        volume.snapshots().delete(name);
        underWay.remove(name);
        awaitFreed(volume);
    }

    private static void awaitFreed(Volume volume) throws IOException {
        try {
            volume.snapshots().freed().get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IOException(e);
        }
        volume.sync();
    }

    @Override
    List<String> problems(CutStores left) throws IOException {
        List<String> problems = new ArrayList<>();
        try (Volume found = open(left)) {
            List<String> names =
                    found.snapshots().list().stream().map(SnapshotRecord::name).toList();
            for (String name : made.keySet()) {
                if (!names.contains(name)) {
                    problems.add(name + " is lost");
                }
            }
            for (String name : names) {
                Map<String, String> expected = made.getOrDefault(name, underWay.get(name));
                if (expected == null) {
                    problems.add(name + " is there again");
                } else if (!expected.equals(TreeDigest.of(found, TreeDigest.snapshotRoot(found, name)))) {
                    problems.add(name + " has changed");
                }
            }
            problems.addAll(VolumeChecker.check(found));
            for (String name : names) {
                found.snapshots().delete(name);
            }
            awaitFreed(found);
            problems.addAll(VolumeChecker.check(found));
            try (RecordCursor<Version> versions = of(found.context().metadata()).versions()) {
                if (versions.next()) {
                    problems.add("a version is left");
                }
            }
        }
        return problems;
    }

    @Test
    void aCrashAtAnyChangeLosesNoSnapshot() throws IOException {
        make();
        assertNoCutLoses(10);
    }

    @ParameterizedTest
    @EnumSource(names = {"FORCE_DOES_NOTHING", "COMMIT_IS_NOT_DURABLE"})
    void controlABrokenPromiseIsNoticed(Promise promise) throws IOException {
        make();
        assertIsNoticed(promise);
    }
}
