package org.opendedup.sar.metadata.remote;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;

/**
 * Random commits, checkpoints and moves between two machines, with a crash at each request to the object store and each
 * local commit: before it takes effect, or after it. Then the process, the machine's unsynced bytes or the whole
 * machine is lost. What is found must be the state after some batch, and not before the last one that was promised.
 */
final class ShippingCrashTest {
    private static final UUID VOLUME = new UUID(4, 2);
    private static final int OPERATIONS = 14;
    private static final int NEVER = -1;

    /** What a crash takes away. */
    private enum Loss {
        PROCESS,
        POWER,
        MACHINE
    }

    /** Ends a process; everything that it still tries fails in the same way. */
    private static final class Crash extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private static final class CrashingSteps implements Steps {
        private final int crashAt;
        private final boolean isMade;
        private int count;
        private boolean dead;

        CrashingSteps(int crashAt, boolean isMade) {
            this.crashAt = crashAt;
            this.isMade = isMade;
        }

        @Override
        public void at(String what, Change change) throws IOException {
            if (dead) {
                throw new Crash();
            }
            if (count++ != crashAt) {
                change.make();
                return;
            }
            dead = true;
            if (isMade) {
                try {
                    change.make();
                } catch (IOException e) {
                    throw new Crash();
                }
            }
            throw new Crash();
        }
    }

    /** A volume's metadata, used on two machines in turn. */
    private static final class Run {
        private final Path root;
        private final SteppedObjectStore objects;
        private final Promise promise;
        /** What is expected; a control expects more than is promised. */
        private final Promise expected;

        private final SplittableRandom random;
        private CrashingSteps steps;
        private long nowMs = 1_000_000_000_000L;

        /** The states after each batch, those before the first included. */
        private final List<Map<String, String>> states = new ArrayList<>();
        /** Number of the state that the local disk has, if only the process is lost. */
        private int returned;
        /** Number of the state that the local disk has, if the power is cut. */
        private int synced;
        /** Number of the state that the object store has. */
        private int shipped;

        private int machine;
        private ShippedKeyValueStore store;

        Run(Path root, long seed, Promise promise, Promise expected, SteppedObjectStore objects) {
            this.root = root;
            this.objects = objects;
            this.promise = promise;
            this.expected = expected;
            random = new SplittableRandom(seed);
            states.add(new TreeMap<>());
        }

        private Path folder() {
            return root.resolve("machine" + machine);
        }

        private RemoteMetadata remote() {
            return new RemoteMetadata(
                    objects.with(steps),
                    VOLUME,
                    null,
                    FolderKeyValueStore.databases(steps),
                    () -> java.time.Instant.ofEpochMilli(nowMs),
                    random::nextLong,
                    1);
        }

        private RemoteMetadata.Shipping how() {
            return new RemoteMetadata.Shipping(promise, DataBarrier.NONE, new ShippingLimits(200, 60, 1000, 100));
        }

        private void open() throws IOException {
            store = remote().open(folder(), how());
        }

        /** Makes random changes until the end or the crash, and returns the number of steps. */
        int run(int crashAt, boolean isMade, Loss loss) throws IOException {
            steps = new CrashingSteps(NEVER, false);
            store = remote().create(folder(), how());
            store.close();
            steps = new CrashingSteps(crashAt, isMade);
            try {
                open();
                for (int i = 0; i < OPERATIONS; i++) {
                    operate();
                }
                store.close();
            } catch (Crash e) {
                lose(loss);
                recover(least(loss));
            }
            int count = steps.count;
            finish();
            return count;
        }

        /** Opens after a crash; mostly crashes once more meanwhile. */
        private void recover(int least) throws IOException {
            steps = new CrashingSteps(random.nextInt(20), random.nextBoolean());
            try {
                open();
                verify(least);
                store.ship();
            } catch (Crash e) {
                steps = new CrashingSteps(NEVER, false);
                open();
                verify(least);
            }
        }

        private int least(Loss loss) {
            return switch (loss) {
                case PROCESS -> Math.max(returned, shipped);
                case POWER -> Math.max(synced, shipped);
                case MACHINE -> expected == Promise.REMOTE ? Math.max(synced, shipped) : shipped;
            };
        }

        private void lose(Loss loss) throws IOException {
            if (loss == Loss.POWER) {
                FolderKeyValueStore.cutPower(folder(), random);
            } else if (loss == Loss.MACHINE) {
                machine = 1 - machine;
            }
        }

        private void operate() throws IOException {
            nowMs += random.nextLong(Checkpoints.GRACE_MS);
            int choice = random.nextInt(20);
            if (choice < 10) {
                commit(true);
            } else if (choice < 13) {
                commit(false);
            } else if (choice < 15) {
                store.ship();
                shipped = returned;
            } else if (choice < 17) {
                store.checkpointToStore();
                shipped = returned;
            } else if (choice < 18) {
                store.close();
                synced = returned;
                shipped = returned;
                open();
                verify(returned);
            } else {
                // The other machine takes over; what is not in the store is lost, and known there when it comes back.
                returned = least(Loss.MACHINE);
                synced = returned;
                machine = 1 - machine;
                open();
                verify(returned);
            }
        }

        private void commit(boolean isSynced) throws IOException {
            Map<String, String> next = new TreeMap<>(states.get(returned));
            try (Batch batch = store.batch()) {
                int changes = 1 + random.nextInt(4);
                for (int i = 0; i < changes; i++) {
                    Family family = Family.values()[random.nextInt(3)];
                    String key = "key" + random.nextInt(12);
                    if (random.nextInt(4) == 0) {
                        batch.delete(family, key.getBytes(US_ASCII));
                        next.remove(family + " " + key);
                    } else {
                        String value = states.size() + "." + i;
                        batch.put(family, key.getBytes(US_ASCII), value.getBytes(US_ASCII));
                        next.put(family + " " + key, value);
                    }
                }
                states.add(next);
                if (isSynced) {
                    batch.commit();
                } else {
                    batch.commitLater();
                }
            }
            returned = states.size() - 1;
            if (isSynced) {
                synced = returned;
                if (expected == Promise.REMOTE) {
                    shipped = returned;
                }
            }
        }

        /** Takes the state that is found as the present one. */
        private void verify(int least) throws IOException {
            Map<String, String> found = FolderKeyValueStore.records(store);
            int at = states.lastIndexOf(found);
            assertTrue(at >= least, "state " + at + " of " + (states.size() - 1) + ", not before " + least);
            states.subList(at + 1, states.size()).clear();
            returned = at;
            synced = Math.min(synced, at);
            shipped = Math.min(shipped, at);
        }

        /** Goes on after a crash, and compares what a third machine finds. */
        private void finish() throws IOException {
            steps = new CrashingSteps(NEVER, false);
            open();
            verify(least(Loss.PROCESS));
            commit(true);
            commit(false);
            if (random.nextBoolean()) {
                store.checkpointToStore();
            }
            commit(true);
            store.close();
            Path third = root.resolve("third");
            remote().copyTo(third);
            Map<String, String> found = FolderKeyValueStore.records(
                    FolderKeyValueStore.databases(Steps.FREE).open(third));
            assertEquals(states.get(returned), found);
        }
    }

    private static int run(
            Path folder, long seed, Promise promise, Promise expected, int crashAt, boolean isMade, Loss loss)
            throws IOException {
        TestFolders.delete(folder);
        java.nio.file.Files.createDirectories(folder);
        try {
            return new Run(folder, seed, promise, expected, new SteppedObjectStore()).run(crashAt, isMade, loss);
        } catch (IOException | RuntimeException | AssertionError e) {
            throw new AssertionError(
                    TestSeed.again(ShippingCrashTest.class, seed) + ": " + promise + ", " + loss + " lost at step "
                            + crashAt + (isMade ? ", which was made" : ", which was not made"),
                    e);
        }
    }

    @Test
    void aCrashAtAnyStepLosesNothingThatWasPromised(@MemoryFolder Path folder) {
        Path runs = folder.resolve("runs");
        TestSeed.upTo(2).forEach(seed -> {
            for (Promise promise : Promise.values()) {
                try {
                    int steps = run(runs, seed, promise, promise, NEVER, false, Loss.PROCESS);
                    for (int step : TestSeed.steps(steps, 14).toArray()) {
                        for (Loss loss : Loss.values()) {
                            run(runs, seed, promise, promise, step, false, loss);
                            run(runs, seed, promise, promise, step, true, loss);
                        }
                    }
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
        });
    }

    /** The control: what a local commit promises is less than what a remote one does. */
    @Test
    void aLossOfWhatWasPromisedIsFound(@MemoryFolder Path folder) {
        assertThrows(AssertionError.class, () -> {
            for (int step = 0; step < 60; step++) {
                run(folder.resolve("runs"), 1, Promise.LOCAL, Promise.REMOTE, step, true, Loss.MACHINE);
            }
        });
    }
}
