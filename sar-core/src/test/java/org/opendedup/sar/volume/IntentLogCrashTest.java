package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.volume.CutStores.Fault;
import org.opendedup.sar.volume.CutStores.Promise;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Appends to several files, syncs each, and changes them in every other way. Cuts the power before and in each change
 * that the volume makes to its stores, and once more while what is found is stored; and lets each call fail once. What
 * was synced must be there, byte for byte, and nothing else than what was written.
 */
class IntentLogCrashTest extends CrashRun<Volume> {
    private static final VolumeConfig CONFIG =
            VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);

    private FileHistory files;

    private static Volume open(Directory data, KeyValueStore metadata) throws IOException {
        VolumeStores stores = new VolumeStores(data, metadata, new HeapChunkIndex(), InstantSource.system());
        return Volume.open(CONFIG, stores, Verification.FINGERPRINTS);
    }

    /** Every kind of change of files with bytes in the log. */
    private void script(Random random) throws IOException {
        for (String name : List.of("a", "b", "c")) {
            files.make(name);
            files.append(name, bytes(random, 5_000));
            files.sync(name);
        }
        // As the kernel's write-back cache sends it: the bytes before are the same.
        byte[] page = bytes(random, 400);
        for (int end = 100; end <= page.length; end += 100) {
            files.write("a", 4_990, Arrays.copyOf(page, end));
            files.sync("a");
        }
        for (int round = 0; round < 3; round++) {
            files.append("a", bytes(random, 100));
            files.sync("a");
            files.append("b", bytes(random, 9_000));
            files.sync("b");
            files.write("b", 2_000, bytes(random, 300));
            files.sync("b");
            if (round == 1) {
                files.store();
            }
        }
        files.truncate("a", 4_000);
        files.append("a", bytes(random, 50));
        files.sync("a");
        files.punch("b", 1_000, 3_000);
        files.sync("b");
        files.copy("a", "c");
        files.append("c", bytes(random, 70));
        files.sync("c");
        files.make("new");
        files.append("new", bytes(random, 2_000));
        files.rename("new", "b");
        files.syncAll();
        files.append("a", bytes(random, 70_000));
        files.sync("a");
        files.remove("c");
        files.make("c");
        files.append("c", bytes(random, 10));
        files.syncAll();
        files.store();
        files.append("a", bytes(random, 33));
        files.sync("a");
    }

    private static byte[] bytes(Random random, int count) {
        byte[] made = new byte[count];
        random.nextBytes(made);
        return made;
    }

    @Override
    CutStores stores(long crashSeed) throws IOException {
        files = FileHistory.ofFilesInChunks();
        CutStores made = new CutStores(new CrashDirectory(seed), new CrashKeyValueStore());
        Volume.create(CONFIG, made.data, made.metadata, InstantSource.system());
        return made;
    }

    @Override
    Volume open(CutStores stores) throws IOException {
        stores.begin();
        return open(stores.data(), stores.metadata());
    }

    @Override
    void run(Volume volume) throws IOException {
        files.use(volume);
        script(new Random(seed));
    }

    @Override
    List<String> problems(CutStores left) throws IOException {
        try (Volume found = open(left)) {
            files.use(found);
            List<String> problems = files.problemsAfterCrash();
            problems.addAll(VolumeChecker.check(found));
            found.sync();
            problems.addAll(files.problems());
            problems.addAll(VolumeChecker.check(found));
            if (found.context().writer().intents().bytes() > 0) {
                problems.add("records are left");
            }
            return problems;
        }
    }

    @Test
    void aCrashAtAnyChangeLeavesWhatWasSynced() throws IOException {
        assertNoCutLoses(40);
    }

    @Test
    void aCrashWhileTheFoundIsStoredLeavesItAgain() throws IOException {
        CutStores first = cut(stores(seed), CutStores.NEVER, false, seed);
        // It remembers its batches, so that copies can be made of it any number of times.
        first.crash(seed);
        CutStores whole = first.crash(seed);
        storeFound(whole);
        for (int step : TestSeed.steps(2 * whole.changes.size()).toArray()) {
            CutStores second = first.crash(seed);
            second.cutAt(step / 2, step % 2 > 0, seed);
            storeFound(second);
            assertEquals(List.of(), problemsOf(second.crash(seed)), () -> "at step " + step + " of " + second.changes);
        }
    }

    private void storeFound(CutStores stores) throws IOException {
        try (Volume volume = open(stores)) {
            volume.sync();
        } catch (IOException e) {
            assertTrue(stores.isOff(), e::toString);
        }
    }

    /** Commits that are not durable lose what was synced. */
    @Test
    void controlALogThatIsNotSyncedIsNoticed() throws IOException {
        assertIsNoticed(Promise.COMMIT_IS_NOT_DURABLE);
    }

    /** Each call of the stores fails once; what follows must work, and nothing may be lost. */
    @Test
    void aFaultAtAnyCallOfASyncLosesNothing() throws IOException {
        int calls = syncWithFault(CutStores.NEVER).calls();
        for (int at : TestSeed.steps(calls).toArray()) {
            assertNotNull(syncWithFault(at).failed());
        }
    }

    private CutStores syncWithFault(int at) throws IOException {
        CutStores stores = stores(seed);
        stores.failAt(at, Fault.EIO);
        Volume volume = open(stores.data(), stores.metadata());
        files.use(volume);
        Random random = new Random(seed);
        for (String name : List.of("a", "b")) {
            files.make(name);
            files.append(name, bytes(random, 4_000));
            files.sync(name);
        }
        stores.begin();
        boolean goesOn = true;
        try {
            for (String name : List.of("a", "b", "a")) {
                byte[] more = bytes(random, 100);
                repeat(volume, () -> files.write(name, 4_000, more));
                repeat(volume, () -> files.sync(name));
            }
            repeat(volume, files::store);
        } catch (CorruptionException e) {
            // The force that failed lost bytes of frames, so that only a new mount goes on. What was synced is there.
            goesOn = false;
        }
        stores.end();
        if (goesOn) {
            assertEquals(List.of(), files.problems(), () -> "call " + at + ", " + stores.failed());
        }
        CutStores left = stores.crash(seed);
        abandon(volume);
        assertEquals(List.of(), problemsOf(left), () -> "call " + at + ", " + stores.failed());
        return stores;
    }

    /** A step that may fail once. */
    private interface Step {
        void run() throws IOException;
    }

    private static void repeat(Volume volume, Step step) throws IOException {
        try {
            step.run();
        } catch (IOException e) {
            volume.resume();
            step.run();
        }
    }

    /** What was logged is found on a disk that has no space for containers, and waits there. */
    @Test
    void replayOnAFullDiskKeepsWhatItFound() throws IOException {
        CutStores made = stores(seed);
        Volume volume = open(made);
        files.use(volume);
        Random random = new Random(seed);
        for (String name : List.of("a", "b")) {
            files.make(name);
            files.append(name, bytes(random, 6_000));
            files.sync(name);
        }
        CutStores left = made.crash(seed);
        abandon(volume);
        left.data.noSpaceAfter(0);
        Volume found = open(left);
        files.use(found);
        assertEquals(List.of(), files.problemsAfterCrash());
        assertThrows(NoSpaceException.class, found::sync);
        assertEquals(List.of(), files.problems());
        CutStores again = left.crash(seed);
        abandon(found);
        assertEquals(List.of(), problemsOf(again));
    }
}
