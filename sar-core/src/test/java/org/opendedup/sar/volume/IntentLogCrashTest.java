package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.volume.HookedStores.Call;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.ChunkIndexes;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Appends to several files, syncs each, and changes them in every other way. Cuts the power before and in each change
 * that the volume makes to its stores, and once more while what is found is stored; and lets each call fail once. What
 * was synced must be there, byte for byte, and nothing else than what was written.
 */
@Timeout(300)
class IntentLogCrashTest {
    private static final int NEVER = Integer.MAX_VALUE;

    private final long seed = TestSeed.next();

    private static Volume open(Directory data, KeyValueStore metadata) throws IOException {
        var config = VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);
        VolumeStores stores = new VolumeStores(data, metadata, ChunkIndexes.heap(), InstantSource.system());
        return Volume.open(config, stores, Verification.FINGERPRINTS);
    }

    /** Every kind of change of files with bytes in the log. */
    private void script(IntentFiles files, Random random) throws IOException {
        for (String name : List.of("a", "b", "c")) {
            files.make(name);
            files.append(name, bytes(random, 5_000));
            files.sync(name);
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

    /** Stores that lose power at a change. */
    private final class Stores {
        final CrashDirectory data;
        CrashKeyValueStore metadata;
        private final int at;
        private final boolean inTheMiddle;
        private final HookedStores hooked = new HookedStores();
        final List<String> changes = Collections.synchronizedList(new ArrayList<>());
        private boolean off;

        Stores(CrashDirectory data, CrashKeyValueStore metadata, int at, boolean inTheMiddle) {
            this.data = data;
            this.metadata = metadata;
            this.at = at;
            this.inTheMiddle = inTheMiddle;
            hooked.hook = this::around;
        }

        Volume open() throws IOException {
            return IntentLogCrashTest.open(hooked.hooked(data), hooked.hooked(metadata));
        }

        /** Returns what the power cut left; cuts it now if that did not happen yet. */
        synchronized Stores crash(int nextAt, boolean nextInTheMiddle) throws IOException {
            off = true;
            return new Stores(data.crash(seed + at), metadata.crash(seed + at), nextAt, nextInTheMiddle);
        }

        private synchronized Object around(Call call) throws IOException {
            if (off) {
                throw new IOException("the power is off");
            }
            if (!call.isChange()) {
                return call.proceed();
            }
            changes.add(call.toString());
            if (changes.size() <= at) {
                return call.proceed();
            }
            off = true;
            if (inTheMiddle && call.what().equals("commit")) {
                metadata.failNextCommits(1);
            }
            if (inTheMiddle && !call.what().equals("force") && !call.what().equals("sync")) {
                try {
                    call.proceed();
                } catch (IOException e) {
                    throw new IOException("the power is cut", e);
                }
            }
            throw new IOException("the power is cut");
        }
    }

    private Stores created() throws IOException {
        CrashDirectory data = new CrashDirectory(seed);
        CrashKeyValueStore metadata = new CrashKeyValueStore();
        var config = VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config, data, metadata, InstantSource.system());
        return new Stores(data, metadata, NEVER, false);
    }

    /** Runs the script until the power is cut; returns what is left. */
    private Stores runUntilCut(IntentFiles files, Stores stores) throws IOException {
        Volume volume = null;
        try {
            volume = stores.open();
            files.use(volume);
            script(files, new Random(seed));
            return stores.crash(NEVER, false);
        } catch (IOException e) {
            if (!stores.off) {
                throw e;
            }
            return stores.crash(NEVER, false);
        } finally {
            if (volume != null) {
                VolumeInMemory.abandon(volume);
            }
        }
    }

    private static List<String> problems(IntentFiles files, Stores left) {
        try (Volume found = left.open()) {
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
        } catch (IOException | RuntimeException e) {
            return List.of("after the crash: " + e);
        }
    }

    @Test
    void aCrashAtAnyChangeLeavesWhatWasSynced() throws IOException {
        Stores whole = created();
        assertEquals(List.of(), problems(new IntentFiles(), runUntilCut(new IntentFiles(), whole)));
        int count = whole.changes.size();
        assertTrue(count > 40, whole.changes::toString);
        for (int at = 0; at < count; at++) {
            for (boolean inTheMiddle : new boolean[] {false, true}) {
                IntentFiles files = new IntentFiles();
                Stores made = created();
                Stores left = runUntilCut(files, new Stores(made.data, made.metadata, at, inTheMiddle));
                String when = "at change " + at + ", in the middle: " + inTheMiddle;
                assertEquals(List.of(), problems(files, left), when);
            }
        }
    }

    @Test
    void aCrashWhileTheFoundIsStoredLeavesItAgain() throws IOException {
        Stores made = created();
        IntentFiles files = new IntentFiles();
        Stores first = runUntilCut(files, made);
        // It remembers its batches, so that copies can be made of it any number of times.
        CrashKeyValueStore metadata = first.metadata;
        metadata.crash(seed);
        boolean cut = true;
        for (int at = 0; cut; at++) {
            for (boolean inTheMiddle : new boolean[] {false, true}) {
                Stores second = new Stores(first.data.crash(seed), metadata.crash(seed), at, inTheMiddle);
                try (Volume volume = second.open()) {
                    volume.sync();
                } catch (IOException e) {
                    assertTrue(second.off, e::toString);
                }
                cut = second.off;
                String when = "at change " + at + " of " + second.changes + ", in the middle: " + inTheMiddle;
                assertEquals(List.of(), problems(files, second.crash(NEVER, false)), when);
            }
        }
    }

    /** Commits that are not durable lose what was synced. */
    @Test
    void controlALogThatIsNotSyncedIsNoticed() throws IOException {
        boolean noticed = false;
        for (int trial = 0; trial < 20 && !noticed; trial++) {
            Stores made = created();
            made.metadata.setCommitIsNotDurable(true);
            IntentFiles files = new IntentFiles();
            try {
                noticed = !problems(files, runUntilCut(files, new Stores(made.data, made.metadata, 20 + trial, false)))
                        .isEmpty();
            } catch (IOException torn) {
                noticed = true;
            }
        }
        assertTrue(noticed);
    }

    /** Each call of the stores fails once; what follows must work, and nothing may be lost. */
    @Test
    void aFaultAtAnyCallOfASyncLosesNothing() throws IOException {
        boolean failed = true;
        for (int at = 0; failed; at++) {
            failed = syncWithFault(at);
        }
    }

    private boolean syncWithFault(int at) throws IOException {
        Stores made = created();
        HookedStores stores = new HookedStores();
        int[] calls = new int[1];
        boolean[] armed = new boolean[2];
        String[] what = new String[1];
        stores.hook = call -> {
            synchronized (armed) {
                if (armed[0] && !armed[1] && calls[0]++ == at) {
                    armed[1] = true;
                    what[0] = call.toString();
                    if (call.what().equals("commit")) {
                        made.metadata.failNextCommits(1);
                        return call.proceed();
                    }
                    throw new IOException("Input/output error");
                }
            }
            return call.proceed();
        };
        IntentFiles files = new IntentFiles();
        Volume volume = open(stores.hooked(made.data), stores.hooked(made.metadata));
        files.use(volume);
        Random random = new Random(seed);
        for (String name : List.of("a", "b")) {
            files.make(name);
            files.append(name, bytes(random, 4_000));
            files.sync(name);
        }
        armed[0] = true;
        for (String name : List.of("a", "b", "a")) {
            byte[] more = bytes(random, 100);
            repeat(volume, () -> files.write(name, 4_000, more));
            repeat(volume, () -> files.sync(name));
        }
        repeat(volume, files::store);
        armed[0] = false;
        assertEquals(List.of(), files.problems(), () -> "call " + at + ", " + what[0]);
        Stores left = new Stores(made.data.crash(seed), made.metadata.crash(seed), NEVER, false);
        VolumeInMemory.abandon(volume);
        assertEquals(List.of(), problems(files, left), () -> "call " + at + ", " + what[0]);
        return armed[1];
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
        Stores made = created();
        IntentFiles files = new IntentFiles();
        Volume volume = made.open();
        files.use(volume);
        Random random = new Random(seed);
        for (String name : List.of("a", "b")) {
            files.make(name);
            files.append(name, bytes(random, 6_000));
            files.sync(name);
        }
        Stores left = made.crash(NEVER, false);
        VolumeInMemory.abandon(volume);
        HookedStores stores = new HookedStores();
        boolean[] full = {true};
        stores.hook = call -> {
            if (full[0]
                    && !call.isOfMetadata()
                    && (call.what().equals("append") || call.what().equals("create"))) {
                throw new NoSpaceException("no space");
            }
            return call.proceed();
        };
        Volume found = open(stores.hooked(left.data), stores.hooked(left.metadata));
        files.use(found);
        assertEquals(List.of(), files.problemsAfterCrash());
        try {
            found.sync();
        } catch (NoSpaceException expected) {
            assertTrue(full[0]);
        }
        assertEquals(List.of(), files.problems());
        Stores again = new Stores(left.data.crash(seed), left.metadata.crash(seed), NEVER, false);
        VolumeInMemory.abandon(found);
        assertEquals(List.of(), problems(files, again));
        full[0] = false;
    }
}
