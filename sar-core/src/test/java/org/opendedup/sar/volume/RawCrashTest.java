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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.raw.CrashRawFolder;
import org.opendedup.sar.raw.RawStores;
import org.opendedup.sar.volume.HookedStores.Call;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.store.ChunkIndexes;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * Takes raw files through every step of their lives, and cuts the power before and in each change that the volume makes
 * to its stores or to the fast tier. {@link RawHistory} says what may be found.
 */
@Timeout(300)
class RawCrashTest {
    private static final int NEVER = Integer.MAX_VALUE;
    private static final int CONTROL_TRIALS = 60;
    /** Number of changes from one place of the first of two cuts to the next. */
    private static final int SECOND_CUT_STEP = 7;
    /** Number of states in which each power cut leaves what was not forced. */
    private static final int LEFT = TestSeed.rounds(1);

    /** What the check and the volume say of lost bytes. */
    private static final List<String> LOSSES =
            List.of("were only on the fast tier, which does not have them any more", ", possible: ");

    private final long seed = TestSeed.next();
    /** Chooses the state that a power cut leaves. */
    private int left;

    private enum Promise {
        KEPT,
        FORCE_OF_RAW_FILES_DOES_NOTHING,
        COMMIT_IS_NOT_DURABLE,
        BACKING_FILES_STAY_UNTIL_THE_COMMIT
    }

    private static VolumeConfig config() {
        return RawStores.of(VolumeConfigs.in(Path.of("in memory"), 100L << 30, Chunking.VARIABLE_SHA256));
    }

    /** Every step of a raw file's life. */
    private static void script(RawHistory files, Random random) throws IOException {
        for (String name : List.of("a", "b", "c")) {
            files.make(name);
            files.append(name, bytes(random, 5_000));
        }
        files.sync("a");
        files.sync("b");
        files.write("a", 1_000, bytes(random, 2_500));
        files.copy("a");
        files.write("a", 100, bytes(random, 700));
        files.sync("a");
        files.migrate("a");
        files.append("a", bytes(random, 300));
        files.sync("a");
        files.truncate("a", 0);
        files.sync("a");
        files.append("a", bytes(random, 1_500));
        files.make("d");
        files.sync("d");
        files.sync("a");
        files.migrate("a");
        files.giveBack();
        files.truncate("a", 0);
        files.sync("a");
        files.append("a", bytes(random, 600));
        files.sync("d");
        files.truncate("b", 1_700);
        files.punch("c", 512, 1_024);
        files.syncAll();
        files.make("new");
        files.append("new", bytes(random, 2_000));
        files.rename("new", "b");
        files.append("b", bytes(random, 1_200));
        files.append("c", bytes(random, 900));
        files.exchange("b", "c");
        files.sync("c");
        files.remove("c");
        files.make("c");
        files.append("c", bytes(random, 4_000));
        files.sync("c");
        files.copy("c");
        files.write("c", 2_000, bytes(random, 600));
        files.truncate("c", 3_000);
        files.store();
        files.copy("c");
        files.migrate("c");
        files.remove("a");
        files.make("e");
        files.append("e", bytes(random, 1_000));
        files.migrate("e");
        files.append("d", bytes(random, 100));
        files.copy("d");
        files.syncAll();
        files.truncate("b", 10);
        files.store();
        files.giveBack();
    }

    private static byte[] bytes(Random random, int count) {
        byte[] made = new byte[count];
        random.nextBytes(made);
        return made;
    }

    /** Stores, and a fast tier, that lose power at a change. */
    private final class Stores {
        final CrashDirectory data;
        final CrashKeyValueStore metadata;
        final CrashRawFolder raw;
        private final int at;
        private final boolean inTheMiddle;
        private final HookedStores hooked = new HookedStores();
        final List<String> changes = Collections.synchronizedList(new ArrayList<>());
        private boolean off;
        /** Whether backing files vanish as soon as a commit begins. */
        private boolean deletesEarly;

        Stores(CrashDirectory data, CrashKeyValueStore metadata, CrashRawFolder raw, int at, boolean inTheMiddle) {
            this.data = data;
            this.metadata = metadata;
            this.raw = raw;
            this.at = at;
            this.inTheMiddle = inTheMiddle;
            hooked.hook = this::around;
        }

        Volume open() throws IOException {
            VolumeStores stores = new VolumeStores(
                            hooked.hooked(data), hooked.hooked(metadata), ChunkIndexes.heap(), InstantSource.system())
                    .withRaw(volume -> hooked.hooked(raw));
            return Volume.open(config(), stores, Verification.FINGERPRINTS);
        }

        /** Returns what the power cut left; cuts it now if that did not happen yet. */
        synchronized Stores crash(int nextAt, boolean nextInTheMiddle) throws IOException {
            off = true;
            long chosen = seed + at * (long) LEFT + left;
            return new Stores(data.crash(chosen), metadata.crash(chosen), raw.crash(chosen), nextAt, nextInTheMiddle);
        }

        private synchronized Object around(Call call) throws IOException {
            if (off) {
                throw new IOException("the power is off");
            }
            if (!call.isChange()) {
                return call.proceed();
            }
            changes.add(call.toString());
            if (deletesEarly && call.what().equals("commit")) {
                raw.wipe();
            }
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

    private Stores created(Promise promise, int at, boolean inTheMiddle) throws IOException {
        CrashDirectory data = new CrashDirectory(seed);
        CrashKeyValueStore metadata = new CrashKeyValueStore();
        CrashRawFolder raw = new CrashRawFolder(seed, promise == Promise.FORCE_OF_RAW_FILES_DOES_NOTHING);
        Volume.create(config(), data, metadata, InstantSource.system());
        metadata.setCommitIsNotDurable(promise == Promise.COMMIT_IS_NOT_DURABLE);
        Stores made = new Stores(data, metadata, raw, at, inTheMiddle);
        made.deletesEarly = promise == Promise.BACKING_FILES_STAY_UNTIL_THE_COMMIT;
        return made;
    }

    /** Runs the script until the power is cut; returns what is left. */
    private Stores runUntilCut(RawHistory files, Stores stores) throws IOException {
        return runUntilCut(files, stores, NEVER, false);
    }

    /**
     * Runs the script until the power is cut; returns what is left.
     *
     * @param nextAt change at which the power is cut again
     */
    private Stores runUntilCut(RawHistory files, Stores stores, int nextAt, boolean nextInTheMiddle)
            throws IOException {
        Volume volume = null;
        try {
            volume = stores.open();
            files.use(volume);
            script(files, new Random(seed));
            return stores.crash(nextAt, nextInTheMiddle);
        } catch (IOException e) {
            if (!stores.off) {
                throw e;
            }
            return stores.crash(nextAt, nextInTheMiddle);
        } finally {
            if (volume != null) {
                VolumeInMemory.abandon(volume);
            }
        }
    }

    private static List<String> problems(RawHistory files, Stores left) {
        return problems(files, left, false);
    }

    /** @param straysMayStay whether files without a record may be left until the mount after the next one */
    private static List<String> problems(RawHistory files, Stores left, boolean straysMayStay) {
        List<String> problems = new ArrayList<>();
        try {
            try (Volume found = left.open()) {
                files.use(found);
                long records = found.fastTier().status().files();
                if (!straysMayStay && left.raw.numbers().size() > records) {
                    problems.add(left.raw.numbers() + " are more than the " + records + " raw files");
                }
                problems.addAll(files.problemsAfterCrash());
                problems.addAll(VolumeChecker.check(found));
                files.migrateAll();
                problems.addAll(files.problems());
                problems.addAll(VolumeChecker.check(found));
            }
            try (Volume again = left.open()) {
                files.use(again);
                problems.addAll(files.problems());
                if (!left.raw.numbers().isEmpty()) {
                    problems.add("backing files are left: " + left.raw.numbers());
                }
            }
        } catch (IOException | RuntimeException e) {
            problems.add("after the crash: " + e);
        }
        return problems;
    }

    @Test
    void aCrashAtAnyChangeLeavesWhatWasSynced() throws IOException {
        Stores whole = created(Promise.KEPT, NEVER, false);
        RawHistory all = new RawHistory();
        assertEquals(List.of(), problems(all, runUntilCut(all, whole)));
        int count = whole.changes.size();
        assertTrue(count > 80, whole.changes::toString);
        for (int at = 0; at < count; at++) {
            for (left = 0; left < LEFT; left++) {
                for (boolean inTheMiddle : new boolean[] {false, true}) {
                    assertCrashIsHarmless(at, inTheMiddle);
                }
            }
        }
    }

    private void assertCrashIsHarmless(int at, boolean inTheMiddle) throws IOException {
        RawHistory files = new RawHistory();
        Stores stores = created(Promise.KEPT, at, inTheMiddle);
        List<String> problems = problems(files, runUntilCut(files, stores));
        assertEquals(
                List.of(),
                problems,
                () -> "at change " + at + ", " + stores.changes.get(Math.min(at, stores.changes.size() - 1)) + ", left "
                        + left + ", in the middle: " + inTheMiddle);
    }

    /** Mounts what a cut left, and cuts the power again at a change; null if the mount ended before that change. */
    private @Nullable Stores cutAgain(Stores left) throws IOException {
        Volume volume = null;
        boolean ended = false;
        try {
            volume = left.open();
            volume.close();
            ended = true;
        } catch (IOException | RuntimeException e) {
            if (!left.off) {
                throw e;
            }
        }
        if (ended && !left.off) {
            return null;
        }
        Stores again = left.crash(NEVER, false);
        if (volume != null) {
            VolumeInMemory.abandon(volume);
        }
        return again;
    }

    /** Cuts the power at a change, and once more at each change of the mount that follows. Returns what is wrong. */
    private List<String> problemsAfterTwoCuts(Promise promise, int at, boolean inTheMiddle) throws IOException {
        for (int next = 0; ; next++) {
            RawHistory files = new RawHistory();
            Stores first = runUntilCut(files, created(promise, at, inTheMiddle), next, inTheMiddle);
            Stores second = cutAgain(first);
            if (second == null) {
                return List.of();
            }
            // A cut between the epoch of the metadata and that of the containers looks like another history.
            List<String> problems = problems(files, second, true);
            if (!problems.isEmpty()) {
                return List.of(
                        "at change " + at + ", then " + next + ", in the middle: " + inTheMiddle + ": " + problems);
            }
        }
    }

    @Test
    void aSecondCutWhileTheFirstIsMendedLosesNothing() throws IOException {
        Stores whole = created(Promise.KEPT, NEVER, false);
        runUntilCut(new RawHistory(), whole);
        int count = whole.changes.size();
        for (int at = (int) Math.floorMod(seed, (long) SECOND_CUT_STEP); at < count; at += SECOND_CUT_STEP) {
            for (boolean inTheMiddle : new boolean[] {false, true}) {
                assertEquals(List.of(), problemsAfterTwoCuts(Promise.KEPT, at, inTheMiddle));
            }
        }
    }

    private interface Cuts {
        List<String> problems(int at) throws IOException;
    }

    /** Whether a cut loses synced bytes; a control accepts no other problem. */
    private static boolean losesBytes(Cuts cuts) throws IOException {
        for (int trial = 0; trial < CONTROL_TRIALS; trial++) {
            String problems;
            try {
                problems = cuts.problems(20 + 2 * trial).toString();
            } catch (IOException e) {
                problems = e.getMessage();
            }
            if (LOSSES.stream().anyMatch(problems::contains)) {
                return true;
            }
        }
        return false;
    }

    @Test
    void controlASecondCutFindsAForceThatDoesNothing() throws IOException {
        assertTrue(losesBytes(at -> problemsAfterTwoCuts(Promise.FORCE_OF_RAW_FILES_DOES_NOTHING, at, false)));
    }

    private boolean isNoticed(Promise promise) throws IOException {
        return losesBytes(at -> {
            RawHistory files = new RawHistory();
            return problems(files, runUntilCut(files, created(promise, at, false)));
        });
    }

    @Test
    void controlAForceThatDoesNothingIsNoticed() throws IOException {
        assertTrue(isNoticed(Promise.FORCE_OF_RAW_FILES_DOES_NOTHING));
    }

    @Test
    void controlACommitThatIsNotDurableIsNoticed() throws IOException {
        assertTrue(isNoticed(Promise.COMMIT_IS_NOT_DURABLE));
    }

    @Test
    void controlABackingFileThatIsDeletedBeforeTheCommitIsNoticed() throws IOException {
        assertTrue(isNoticed(Promise.BACKING_FILES_STAY_UNTIL_THE_COMMIT));
    }
}
