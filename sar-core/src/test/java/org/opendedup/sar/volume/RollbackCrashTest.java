package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.opendedup.sar.metadata.PresentRecords.of;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.volume.CutStores.Fault;
import org.opendedup.sar.volume.CutStores.Promise;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Cuts the power at each change that two rollbacks make, and fails each of their calls. What is opened afterwards has
 * the state of before or that of the snapshot, and nothing between; all snapshots stay as they are.
 */
class RollbackCrashTest extends CrashRun<Volume> {
    private static final int CHANGES = 40;
    private static final String KEPT = "kept";

    @MemoryFolder
    Path folder;

    private final CrashDirectory data = new CrashDirectory(seed);
    private final CrashKeyValueStore metadata = new CrashKeyValueStore();
    private VolumeConfig config;
    /** What the snapshots showed when they were made. */
    private final Map<String, Map<String, String>> made = new TreeMap<>();

    private Map<String, String> present = Map.of();
    /** The name of the snapshot that the rollback makes first; null: none. */
    private @Nullable String before = KEPT;

    /** What the volume may show after a crash now. */
    private Set<Map<String, String>> allowed = Set.of();

    /** Whether what a crash left loses the record of the rollback, as the control does. */
    private boolean losesRecord;

    private void make() throws IOException {
        config = VolumeConfigs.in(folder, 100L << 30, Chunking.VARIABLE_SHA256);
        Files.createDirectories(config.locations().metadata());
        Volume.create(config, data, metadata, InstantSource.system());
        try (Volume volume = open(new CutStores(data, metadata))) {
            RandomTree tree = new RandomTree(new SplittableRandom(seed));
            for (String name : List.of("old", "new")) {
                tree.change(volume, CHANGES);
                volume.sync();
                made.put(name, TreeDigest.of(volume, Inode.ROOT));
                volume.snapshots().create(name, 0, false);
            }
            tree.change(volume, CHANGES);
            volume.sync();
            present = TreeDigest.of(volume, Inode.ROOT);
        }
        // It remembers its batches, so that copies can be made of it any number of times.
        metadata.crash(seed);
    }

    @Override
    CutStores stores(long crashSeed) throws IOException {
        allowed = Set.of(present, snapshot("old"));
        return new CutStores(data.crash(crashSeed), metadata.crash(0));
    }

    @Override
    Volume open(CutStores stores) throws IOException {
        running = stores;
        VolumeStores opened =
                new VolumeStores(stores.data(), stores.metadata(), new HeapChunkIndex(), InstantSource.system());
        return Volume.open(config, opened, Verification.CHECKSUMS);
    }

    private CutStores running = new CutStores(data, metadata);

    @Override
    void run(Volume volume) throws IOException {
        volume.rollback().begin("old", before);
        volume.close();
        try (Volume old = open(running)) {
            allowed = Set.of(snapshot("old"), snapshot("new"));
            old.rollback().begin("new", null);
        }
        open(running).close();
        allowed = Set.of(snapshot("new"));
    }

    private Map<String, String> snapshot(String name) {
        return Objects.requireNonNull(made.get(name));
    }

    @Override
    List<String> problems(CutStores left) throws IOException {
        List<String> problems = new ArrayList<>();
        if (losesRecord) {
            try (Batch batch = left.metadata.batch()) {
                batch.delete(Family.SYSTEM, SystemRecords.ROLLBACK);
                batch.commit();
            }
        }
        try (Volume found = open(left)) {
            Map<String, String> now = TreeDigest.of(found, Inode.ROOT);
            if (!allowed.contains(now)) {
                problems.add("the state is none that may be");
            }
            List<String> names =
                    found.snapshots().list().stream().map(SnapshotRecord::name).toList();
            if (!now.equals(present) && before != null && !names.contains(KEPT)) {
                problems.add("the state of before is lost");
            }
            for (String name : List.of("old", "new")) {
                if (!snapshot(name).equals(TreeDigest.of(found, TreeDigest.snapshotRoot(found, name)))) {
                    problems.add(name + " has changed");
                }
            }
            if (names.contains(KEPT) && !present.equals(TreeDigest.of(found, TreeDigest.snapshotRoot(found, KEPT)))) {
                problems.add("what was kept is not the state of before");
            }
            problems.addAll(VolumeChecker.check(found));
            of(found.context().metadata()).recountQuotas().forEach(difference -> problems.add(difference.text()));
        }
        return problems;
    }

    @Test
    void aCrashAtAnyChangeLeavesOneOfTheTwoStates() throws IOException {
        make();
        assertNoCutLoses(10);
    }

    @Test
    void soDoesOneWithoutASnapshotBefore() throws IOException {
        make();
        before = null;
        assertNoCutLoses(10);
    }

    @Test
    void aFullDiskLeavesOneOfTheTwoStates() throws IOException {
        make();
        assertNoFaultLoses(Fault.ENOSPC, (volume, stores) -> List.of());
    }

    /** Without its record, a rollback that a crash ends leaves a state that never was. */
    @Test
    void controlALostRecordIsNoticed() throws IOException {
        make();
        losesRecord = true;
        int changes = changes().size();
        int noticed = 0;
        for (int at = 0; at < changes; at++) {
            noticed += problemsOf(cut(stores(seed + at), at, false, seed + at)).isEmpty() ? 0 : 1;
        }
        assertTrue(noticed >= 3, noticed + " of " + changes);
        assertEquals(List.of(), problemsOf(cut(stores(seed), CutStores.NEVER, false, seed)));
    }

    @Test
    void controlACommitThatIsNotDurableIsNoticed() throws IOException {
        make();
        assertIsNoticed(Promise.COMMIT_IS_NOT_DURABLE);
    }
}
