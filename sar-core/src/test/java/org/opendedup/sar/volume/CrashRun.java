package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.volume.CutStores.Fault;
import org.opendedup.sar.volume.CutStores.Promise;

/**
 * Something that a volume does, again and again from the same state: with a power cut before a change or in the middle
 * of it, or with a call that fails. For one thread.
 *
 * @param <V> the volume
 */
@Timeout(300)
abstract class CrashRun<V extends Closeable> {
    /** How often a control cuts the power at each change: a crash may keep by chance what was not made durable. */
    private static final int CONTROL_ROUNDS = 8;
    /** Number of steps of a run that a proving run interrupts, about. */
    private static final int STEPS = 8;

    final long seed = TestSeed.next();

    /** Returns stores for one run, always in the same state. The run counts from its opening on, or if begun before. */
    abstract CutStores stores(long crashSeed) throws IOException;

    abstract V open(CutStores stores) throws IOException;

    /** Makes the changes. */
    abstract void run(V volume) throws IOException;

    /** Returns what is wrong with what a crash left. */
    abstract List<String> problems(CutStores left) throws IOException;

    /** Whether a control looks for such problems. */
    boolean isLoss(List<String> problems) {
        return !problems.isEmpty();
    }

    /** What is wrong in the mount in which a call failed. */
    interface InUse<V> {
        List<String> problems(V volume, CutStores stores) throws IOException;
    }

    /** Runs until the power is cut, and returns what is left. */
    final CutStores cut(CutStores stores, int at, boolean inTheMiddle, long crashSeed) throws IOException {
        stores.cutAt(at, inTheMiddle, crashSeed);
        V volume = null;
        try {
            volume = open(stores);
            stores.begin();
            run(volume);
        } catch (IOException e) {
            if (!stores.isOff()) {
                abandon(volume);
                throw e;
            }
        } catch (RuntimeException | Error e) {
            // Also of a test that takes too long: the threads of its volume must not stay.
            abandon(volume);
            throw e;
        }
        try {
            return stores.crash(crashSeed);
        } finally {
            // Also if the database is refused.
            abandon(volume);
        }
    }

    final List<String> problemsOf(CutStores left) {
        try {
            return problems(left);
        } catch (IOException | RuntimeException | AssertionError e) {
            return List.of("after the crash: " + e);
        }
    }

    /** Resumes changes if a call that failed has stopped them. */
    static void resumeIfStopped(Volume volume) throws IOException {
        if (volume.context().committer().stopped() != null) {
            volume.context().committer().resume();
        }
    }

    /** Returns which files of the root directory have other bytes than these, or cannot be read. */
    static List<String> wrongFiles(Volume volume, Map<String, byte[]> contents) {
        List<String> wrong = new ArrayList<>();
        contents.forEach((name, bytes) -> {
            try {
                if (!Arrays.equals(bytes, GarbageTrial.read(volume, name, bytes.length))) {
                    wrong.add(name + " has other bytes");
                }
            } catch (IOException e) {
                wrong.add(name + ": " + e);
            }
        });
        return wrong;
    }

    /** Returns the number of packs in a data location. */
    static long packs(CrashDirectory directory) throws IOException {
        return directory.list().stream()
                .filter(name -> PackFormat.numberOf(name).isPresent())
                .count();
    }

    /** Discards a volume whose stores have no power. */
    static void abandon(@Nullable Closeable volume) {
        try {
            if (volume != null) {
                volume.close();
            }
        } catch (IOException e) {
            // Expected, because its stores are gone.
        }
    }

    /** Returns the changes of a run that nothing interrupts. */
    final List<String> changes() throws IOException {
        CutStores stores = stores(seed);
        cut(stores, CutStores.NEVER, false, seed);
        return stores.changes;
    }

    final void assertNoCutLoses(int changesAtLeast) throws IOException {
        CutStores whole = stores(seed);
        assertEquals(List.of(), problemsOf(cut(whole, CutStores.NEVER, false, seed)));
        List<String> all = whole.changes;
        assertTrue(all.size() >= changesAtLeast, all::toString);
        for (int step : TestSeed.steps(2 * (all.size() + 1), STEPS).toArray()) {
            int at = step / 2;
            boolean inTheMiddle = step % 2 > 0;
            CutStores stores = stores(seed + at);
            List<String> problems = problemsOf(cut(stores, at, inTheMiddle, seed + at));
            String when = (inTheMiddle ? "in the middle of change " : "before change ") + at + " of ";
            assertEquals(List.of(), problems, () -> when + stores.changes);
        }
    }

    /** Verifies that a cut at some change is noticed if the stores break a promise. */
    final void assertIsNoticed(Promise promise) throws IOException {
        assertIsNoticed(promise, changes().size());
    }

    /** @param changes number of changes of a run that nothing interrupts */
    final void assertIsNoticed(Promise promise, int changes) throws IOException {
        for (int trial = 0; trial < CONTROL_ROUNDS * changes; trial++) {
            if (isLoss(problemsIfBroken(promise, changes - trial % changes, seed + trial))) {
                return;
            }
        }
        throw new AssertionError(promise + " is not noticed");
    }

    private List<String> problemsIfBroken(Promise promise, int at, long crashSeed) throws IOException {
        CutStores stores = stores(crashSeed);
        stores.breaks(promise);
        try {
            return problemsOf(cut(stores, at, false, crashSeed));
        } catch (CorruptionException refused) {
            // The database is refused: that is not what is looked for.
            return List.of();
        } catch (IOException e) {
            return List.of("before the crash: " + e);
        }
    }

    /** Lets each call fail once. What follows must work, also after an unmount or a crash. */
    final void assertNoFaultLoses(Fault fault, InUse<V> inUse) throws IOException {
        CutStores whole = stores(seed);
        whole.failAt(CutStores.NEVER, fault);
        cut(whole, CutStores.NEVER, false, seed);
        List<String> reported = new ArrayList<>();
        for (int at : TestSeed.steps(whole.calls(), STEPS).toArray()) {
            CutStores stores = stores(seed + at);
            stores.failAt(at, fault);
            V volume = open(stores);
            try {
                stores.begin();
                try {
                    run(volume);
                } catch (IOException e) {
                    reported.add(e.toString());
                }
                stores.end();
                String when = fault + " at call " + at + ", " + stores.failed() + ", reported " + reported;
                assertEquals(List.of(), inUse.problems(volume, stores), when);
                if (at % 2 == 0) {
                    volume.close();
                    assertEquals(List.of(), problemsOf(stores.crash(seed)), when);
                } else {
                    CutStores left = stores.crash(seed);
                    abandon(volume);
                    assertEquals(List.of(), problemsOf(left), when);
                }
            } finally {
                abandon(volume);
            }
        }
        assertTrue(whole.calls() > 10 && !reported.isEmpty(), whole.calls() + " calls, " + reported);
    }
}
