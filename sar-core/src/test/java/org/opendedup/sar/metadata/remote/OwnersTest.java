package org.opendedup.sar.metadata.remote;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;

/**
 * Owners of one volume that take it from each other. Each can be paused before any request to the object store and any
 * local commit, while others go on. With the promise {@link Promise#REMOTE}, the history must end with exactly the
 * commits that were acknowledged: none of them lost, and none that failed because the owner had changed.
 */
final class OwnersTest {
    private static final UUID VOLUME = new UUID(7, 7);
    private static final int OWNERS = 3;
    private static final int OPENINGS = 3;
    private static final int COMMITS = 4;

    /** Lets one owner at a time make steps, in a random order. */
    private static final class Gate {
        private final SplittableRandom random;
        private final boolean[] isWaiting = new boolean[OWNERS];
        private final boolean[] hasEnded = new boolean[OWNERS];
        private int turn = -1;
        /** Steps that the owner in turn makes before another may have the turn. */
        private int left;

        Gate(long seed) {
            random = new SplittableRandom(seed);
        }

        synchronized void pass(int owner) {
            isWaiting[owner] = true;
            choose();
            while (turn != owner) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            isWaiting[owner] = false;
            if (left-- == 0) {
                turn = -1;
            }
        }

        synchronized void end(int owner) {
            hasEnded[owner] = true;
            if (turn == owner) {
                turn = -1;
            }
            choose();
        }

        /** Chooses who makes the next step, when all wait or have ended. */
        private void choose() {
            if (turn >= 0) {
                return;
            }
            List<Integer> ready = new ArrayList<>();
            for (int i = 0; i < OWNERS; i++) {
                if (!isWaiting[i] && !hasEnded[i]) {
                    return;
                }
                if (!hasEnded[i]) {
                    ready.add(i);
                }
            }
            if (!ready.isEmpty()) {
                turn = ready.get(random.nextInt(ready.size()));
                left = random.nextInt(4) == 0 ? random.nextInt(60) : random.nextInt(4);
                notifyAll();
            }
        }
    }

    private final List<String> acknowledged = new ArrayList<>();
    private final AtomicLong nowMs = new AtomicLong(1_000_000_000_000L);

    private RemoteMetadata remote(SteppedObjectStore objects, Steps steps, long seed) {
        SplittableRandom tokens = new SplittableRandom(seed);
        return new RemoteMetadata(
                objects.with(steps),
                VOLUME,
                null,
                FolderKeyValueStore.databases(steps),
                () -> Instant.ofEpochMilli(nowMs.get()),
                tokens::nextLong,
                1);
    }

    private static RemoteMetadata.Shipping how() {
        return new RemoteMetadata.Shipping(Promise.REMOTE, DataBarrier.NONE, new ShippingLimits(1000, 60, 1000, 100));
    }

    private void own(int owner, Path root, SteppedObjectStore objects, Gate gate, long seed) throws IOException {
        Steps steps = (what, change) -> {
            gate.pass(owner);
            change.make();
        };
        SplittableRandom random = new SplittableRandom(seed + owner);
        for (int opening = 0; opening < OPENINGS; opening++) {
            ShippedKeyValueStore store;
            try {
                store = remote(objects, steps, random.nextLong()).open(root.resolve("owner" + owner), how());
            } catch (CorruptionException e) {
                throw e;
            } catch (IOException e) {
                // Another one has opened it at the same time.
                continue;
            }
            try {
                for (int i = 0; i < COMMITS; i++) {
                    commit(store, "o" + owner + "." + opening + "." + i);
                    nowMs.addAndGet(random.nextLong(Checkpoints.GRACE_MS / 20));
                    if (random.nextInt(4) == 0) {
                        store.checkpointToStore();
                    }
                }
                store.close();
            } catch (OwnerChangedException e) {
                assertThrows(OwnerChangedException.class, () -> commit(store, "refused" + owner));
            }
        }
    }

    private void commit(ShippedKeyValueStore store, String key) throws IOException {
        try (Batch batch = store.batch()) {
            batch.put(Family.ENTRY, key.getBytes(US_ASCII), key.getBytes(US_ASCII));
            batch.commit();
        }
        synchronized (acknowledged) {
            acknowledged.add("ENTRY " + key);
        }
    }

    private void run(Path root, long seed, SteppedObjectStore objects) throws Exception {
        Steps free = Steps.FREE;
        acknowledged.clear();
        remote(objects, free, seed).create(root.resolve("first"), how()).close();
        Gate gate = new Gate(seed);
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < OWNERS; i++) {
            int owner = i;
            Thread thread = new Thread(() -> {
                try {
                    own(owner, root, objects, gate, seed);
                } catch (Throwable e) {
                    synchronized (failures) {
                        failures.add(e);
                    }
                } finally {
                    gate.end(owner);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (!failures.isEmpty()) {
            throw new AssertionError("an owner failed", failures.get(0));
        }
        Path last = root.resolve("last");
        remote(objects, free, seed).copyTo(last);
        assertEquals(
                new TreeSet<>(acknowledged),
                new TreeSet<>(FolderKeyValueStore.records(
                                FolderKeyValueStore.databases(free).open(last))
                        .keySet()));
    }

    private void runIn(Path folder, long seed, SteppedObjectStore objects) {
        try {
            TestFolders.delete(folder);
            Files.createDirectories(folder);
            run(folder, seed, objects);
        } catch (Exception | AssertionError e) {
            throw new AssertionError(TestSeed.again(OwnersTest.class, seed), e);
        }
    }

    @Test
    void noAcknowledgedCommitIsLostAndNoneOfAFormerOwnerIsSeen(@MemoryFolder Path folder) {
        TestSeed.upTo(40).forEach(seed -> runIn(folder.resolve("run"), seed, new SteppedObjectStore()));
    }

    /** The control: a store that does not refuse a second put of a name. */
    @Test
    void aStoreWithoutConditionLosesCommits(@MemoryFolder Path folder) {
        assertThrows(AssertionError.class, () -> {
            for (long seed = 1; seed < 100; seed++) {
                runIn(folder.resolve("run"), seed, new SteppedObjectStore().overwriting());
            }
        });
    }
}
