package org.opendedup.sar.volume;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.CutStores.Promise;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Clones a tree, and stops another clone, with commits between all steps of both and of the removal of the latter. Cuts
 * the power before and in each change of the stores. A clone is there as a whole or not at all, one that was
 * acknowledged is there, and nothing else is left.
 */
class CloneCrashTest extends CrashRun<Volume> {
    private static final VolumeConfig CONFIG =
            VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);
    /** Steps after which the second clone is stopped. */
    private static final int STOP = 6;

    private CrashDirectory data;
    private CrashKeyValueStore metadata;
    private Map<String, String> source;
    private boolean isAcknowledged;
    /** The list of orphans is not written. */
    private boolean forgetsOrphans;

    @BeforeEach
    void makeSource() throws IOException {
        data = new CrashDirectory(seed);
        metadata = new CrashKeyValueStore();
        Volume.create(CONFIG, data, metadata, InstantSource.system());
        try (Volume volume = open(data, metadata)) {
            source = new CloneTrial(volume).picture(new CloneTrial(volume).makeSource(seed));
        }
        // It remembers its batches, so that copies can be made of it any number of times.
        metadata.crash(seed);
    }

    private static Volume open(Directory data, KeyValueStore metadata) throws IOException {
        VolumeStores stores = new VolumeStores(data, metadata, new HeapChunkIndex(), InstantSource.system());
        return Volume.open(CONFIG, stores, Verification.FINGERPRINTS);
    }

    @Override
    CutStores stores(long crashSeed) throws IOException {
        isAcknowledged = false;
        CutStores stores = new CutStores(data.crash(crashSeed), metadata.crash(0));
        stores.omit(call -> forgetsOrphans && call.what().equals("put") && call.arguments()[0] == Family.ORPHAN);
        return stores;
    }

    @Override
    Volume open(CutStores stores) throws IOException {
        return open(stores.data(), stores.metadata());
    }

    @Override
    void run(Volume volume) throws IOException {
        CloneTrial trial = new CloneTrial(volume);
        long inode = trial.find("source");
        trial.clone(inode, "clone", (stage, done, of) -> commit(volume));
        isAcknowledged = true;
        int[] steps = {0};
        try {
            trial.clone(inode, "stopped", (stage, done, of) -> {
                commit(volume);
                if (done > 1 && ++steps[0] == STOP) {
                    throw new InterruptedIOException("stopped");
                }
            });
        } catch (InterruptedIOException e) {
            Future<?> freed = volume.context().reaper().freed();
            while (!freed.isDone()) {
                volume.commit();
            }
            volume.commit();
        }
    }

    private static void commit(Volume volume) throws InterruptedIOException {
        try {
            volume.commit();
        } catch (IOException e) {
            throw (InterruptedIOException) new InterruptedIOException("no power").initCause(e);
        }
    }

    @Override
    List<String> problems(CutStores left) throws IOException {
        List<String> problems = new ArrayList<>();
        try (Volume volume = open(left)) {
            CloneTrial trial = new CloneTrial(volume);
            problems.addAll(VolumeChecker.check(volume));
            Map<String, String> root = trial.picture(Inode.ROOT);
            long clones = root.keySet().stream().filter("./clone"::equals).count();
            if (isAcknowledged && clones == 0) {
                problems.add("the clone is lost");
            }
            for (String name : clones == 0 ? List.of("source") : List.of("source", "clone")) {
                if (!source.equals(trial.picture(trial.find(name)))) {
                    problems.add(name + " is not what the source was");
                }
            }
            if (root.size() != 1 + (1 + clones) * source.size()) {
                problems.add("something else is there: " + root.keySet());
            }
            volume.context().reaper().freed().get();
            problems.addAll(VolumeChecker.check(volume));
            volume.sync();
            if (trial.inodes() != trial.reachable()) {
                problems.add(trial.inodes() + " inodes, of which " + trial.reachable() + " have names");
            }
        } catch (InterruptedException | ExecutionException e) {
            throw new IOException(e);
        }
        return problems;
    }

    @Test
    void aCrashAtAnyChangeLeavesAWholeCloneOrNothing() throws IOException {
        assertNoCutLoses(20);
    }

    @Test
    void controlACommitThatIsNotDurableIsNoticed() throws IOException {
        assertIsNoticed(Promise.COMMIT_IS_NOT_DURABLE);
    }

    @Test
    void controlAStagingDirectoryThatNobodyRemembersIsNoticed() throws IOException {
        int changes = changes().size();
        forgetsOrphans = true;
        assertIsNoticed(Promise.KEPT, changes);
    }
}
