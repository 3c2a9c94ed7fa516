package org.opendedup.sar.metadata.remote;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.objects.reliable.Limits;
import org.opendedup.sar.objects.reliable.ReliableObjectStore;
import org.opendedup.sar.objects.reliable.Timer;

final class ShippedKeyValueStoreTest {
    private static final UUID VOLUME = new UUID(1, 2);
    private static final ShippingLimits LIMITS = new ShippingLimits(400, 100, 100_000, 1000);

    @MemoryFolder
    private Path root;

    private final SteppedObjectStore objects = new SteppedObjectStore();
    private final SplittableRandom tokens = new SplittableRandom(1);
    private long nowMs = 1_000_000_000_000L;
    private Steps requests = Steps.FREE;
    private Steps commits = Steps.FREE;
    private DataBarrier barrier = DataBarrier.NONE;
    private final Map<String, String> model = new TreeMap<>();

    private RemoteMetadata remote() {
        return new RemoteMetadata(
                objects.with((what, change) -> requests.at(what, change)),
                VOLUME,
                null,
                FolderKeyValueStore.databases((what, change) -> commits.at(what, change)),
                () -> Instant.ofEpochMilli(nowMs),
                tokens::nextLong,
                1);
    }

    private RemoteMetadata.Shipping how(Promise promise) {
        return new RemoteMetadata.Shipping(promise, barrier, LIMITS);
    }

    private ShippedKeyValueStore create(Promise promise) throws IOException {
        return remote().create(root.resolve("here"), how(promise));
    }

    private void commit(ShippedKeyValueStore store, String key, String value) throws IOException {
        try (Batch batch = store.batch()) {
            batch.put(Family.ENTRY, key.getBytes(US_ASCII), value.getBytes(US_ASCII));
            batch.commit();
        }
        model.put("ENTRY " + key, value);
    }

    /** Returns what another machine finds in the store. */
    private Map<String, String> elsewhere() throws IOException {
        Path folder = root.resolve("copy" + tokens.nextInt(Integer.MAX_VALUE));
        remote().copyTo(folder);
        return FolderKeyValueStore.records(
                FolderKeyValueStore.databases(Steps.FREE).open(folder));
    }

    /** Steps that fail without an answer while {@code isDown}. */
    private static final class Outage implements Steps {
        private boolean isDown;
        private boolean isMade;

        @Override
        public void at(String what, Change change) throws IOException {
            if (!isDown || isMade) {
                change.make();
            }
            if (isDown) {
                throw new UnavailableException("no answer");
            }
        }
    }

    @Test
    void aLocalCommitWaitsForTheStoreOnlyBeyondTheBound() throws IOException {
        Outage outage = new Outage();
        ShippedKeyValueStore store = create(Promise.LOCAL);
        requests = outage;
        outage.isDown = true;
        int committed = 0;
        IOException failure = null;
        while (failure == null) {
            try {
                commit(store, "key" + committed++, "v".repeat(40));
            } catch (IOException e) {
                failure = e;
            }
        }
        assertTrue(store.statistics().waitingBytes() > LIMITS.waitingBytes(), "a bound that was not reached");
        assertTrue(store.statistics().waitingBytes() < LIMITS.waitingBytes() + 100, "more than a batch beyond it");
        assertEquals(model, FolderKeyValueStore.records(store), "a refused batch was committed");

        outage.isDown = false;
        assertEquals(Map.of(), elsewhere());
        commit(store, "last", "1");
        store.ship();
        assertEquals(0, store.statistics().waitingBytes());
        assertEquals(model, elsewhere());
    }

    /** A line that is slow may take minutes for the packs that a segment waits for; an unmount waits for them. */
    @Test
    @Timeout(30)
    void aCloseWaitsForTheSegmentThatIsBeingPut() throws Exception {
        Pause pause = new Pause();
        barrier = new NoData() {
            @Override
            public void await(long mark) throws IOException {
                pause.here();
            }
        };
        closeDuring(pause, create(Promise.LOCAL), "ship");
    }

    /** A call that a test holds up. */
    private static final class Pause {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        void here() throws IOException {
            begun.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }
    }

    /** A volume without packs. */
    private static class NoData implements DataBarrier {
        @Override
        public long mark() {
            return 0;
        }

        @Override
        public void await(long mark) throws IOException {}
    }

    /** Closes a store while a call is held up, until its close waits in a method. */
    private void closeDuring(Pause pause, ShippedKeyValueStore store, String method) throws Exception {
        store.start("test");
        commit(store, "one", "1");
        pause.begun.await();
        FutureTask<Void> close = new FutureTask<>(() -> {
            store.close();
            return null;
        });
        Thread closing = new Thread(close);
        closing.start();
        // What waits for the end of a task gives up after a minute.
        TestWait.until(() -> closing.getState() == Thread.State.WAITING
                && Stream.of(closing.getStackTrace())
                        .anyMatch(frame -> frame.getMethodName().equals(method)));
        pause.released.countDown();
        close.get();
        assertEquals(model, elsewhere());
    }

    /** On a slow line it takes long until the store has all packs, and the machine may be lost meanwhile. */
    @Test
    @Timeout(30)
    void segmentsArePutWhileACloseWaitsForThePacks() throws IOException {
        CountDownLatch stored = new CountDownLatch(1);
        AtomicBoolean isPut = new AtomicBoolean();
        barrier = new NoData() {
            @Override
            public void stored(long mark) {
                stored.countDown();
            }

            @Override
            public void drain() {
                try {
                    isPut.set(stored.await(20, TimeUnit.SECONDS));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        };
        ShippedKeyValueStore store = create(Promise.LOCAL);
        store.start("test");
        commit(store, "one", "1");
        store.close();
        assertTrue(isPut.get());
        assertEquals(model, elsewhere());
    }

    /** On a slow line it may take minutes until what a checkpoint replaces is removed. */
    @Test
    @Timeout(30)
    void aCloseWaitsForTheCheckpointThatIsBeingMade() throws Exception {
        Pause pause = new Pause();
        barrier = new NoData() {
            @Override
            public boolean mayRemoveMetadata() throws IOException {
                pause.here();
                return true;
            }
        };
        ShippedKeyValueStore store = remote().create(
                        root.resolve("here"),
                        new RemoteMetadata.Shipping(Promise.LOCAL, barrier, new ShippingLimits(400, 100, 1, 1000)));
        closeDuring(pause, store, "drain");
    }

    /** A time that passes only by waiting, and while a request is not answered. */
    private static final class OutageTimer implements Timer {
        private long nowNs;

        @Override
        public long nanos() {
            return nowNs;
        }

        @Override
        public void sleep(long nanos) {
            nowNs += nanos;
        }
    }

    /** What docs/SCALE.md says of a store that does not answer. */
    @ParameterizedTest
    @EnumSource(Promise.class)
    void aStoreThatIsGoneForFiveMinutesFailsCommitsWithinTheirLimit(Promise promise) throws IOException {
        long answerLimitNs = TimeUnit.SECONDS.toNanos(20);
        OutageTimer timer = new OutageTimer();
        Outage outage = new Outage();
        Steps slow = (what, change) -> {
            if (outage.isDown) {
                timer.sleep(answerLimitNs);
            }
            outage.at(what, change);
        };
        ReliableObjectStore reliable =
                new ReliableObjectStore(objects.with(slow), Limits.DEFAULT, timer, new Random(TestSeed.next()));
        ShippedKeyValueStore store = new RemoteMetadata(
                        reliable,
                        VOLUME,
                        null,
                        FolderKeyValueStore.databases(Steps.FREE),
                        () -> Instant.ofEpochMilli(timer.nowNs / 1_000_000),
                        tokens::nextLong,
                        1)
                .create(root.resolve("here"), how(promise));
        commit(store, "before", "1");
        if (promise == Promise.LOCAL) {
            store.ship();
        }
        outage.isDown = true;
        long beganNs = timer.nanos();
        int committed = 0;
        long firstFailedNs = -1;
        while (timer.nanos() - beganNs < TimeUnit.MINUTES.toNanos(5)) {
            long commitNs = timer.nanos();
            try {
                commit(store, "key" + committed, "v".repeat(40));
                committed++;
                assertEquals(commitNs, timer.nanos(), "a commit waited, and did not fail");
                timer.sleep(TimeUnit.SECONDS.toNanos(1));
            } catch (UnavailableException e) {
                long waitedNs = timer.nanos() - commitNs;
                assertTrue(waitedNs <= Limits.DEFAULT.patience().toNanos() + answerLimitNs, waitedNs + " ns");
                firstFailedNs = firstFailedNs < 0 ? timer.nanos() - beganNs : firstFailedNs;
                timer.sleep(TimeUnit.SECONDS.toNanos(5));
            }
        }
        assertTrue(firstFailedNs > 0, "no commit failed");
        boolean waitedForBound = store.statistics().waitingBytes() > LIMITS.waitingBytes();
        assertEquals(promise == Promise.LOCAL, committed > 0);
        assertEquals(promise == Promise.LOCAL, waitedForBound, "remote commits fail at once, local ones at the bound");
        assertTrue(store.statistics().waitingMs() > 200_000, store.statistics()::toString);
        assertTrue(reliable.statistics().breakerSeconds() > 60, reliable.statistics()::toString);

        outage.isDown = false;
        // The breaker asks again within half a minute; nobody has to do anything.
        timer.sleep(TimeUnit.SECONDS.toNanos(30));
        store.ship();
        commit(store, "after", "2");
        store.ship();
        assertEquals(0, reliable.statistics().breakerSeconds());
        assertEquals(0, store.statistics().waitingMs());
        model.putAll(FolderKeyValueStore.records(store));
        assertEquals(model, elsewhere(), "what was committed here, also by a commit that failed, is there now");
    }

    @Test
    void aRemoteCommitIsInTheStoreWhenItReturns() throws IOException {
        Outage outage = new Outage();
        ShippedKeyValueStore store = create(Promise.REMOTE);
        requests = outage;
        commit(store, "a", "1");
        assertEquals(model, elsewhere());
        outage.isDown = true;
        assertThrows(IOException.class, () -> commit(store, "b", "2"));
        outage.isDown = false;
        assertEquals(model, elsewhere());
        // As a commit that is tried again: the whole records once more.
        commit(store, "b", "2");
        assertEquals(model, elsewhere());
    }

    @Test
    void aPutWhoseAnswerWasLostIsFoundAndNotRepeated() throws IOException {
        Outage outage = new Outage();
        ShippedKeyValueStore store = create(Promise.REMOTE);
        requests = outage;
        outage.isDown = true;
        outage.isMade = true;
        assertThrows(IOException.class, () -> commit(store, "a", "1"));
        outage.isDown = false;
        commit(store, "b", "2");
        model.put("ENTRY a", "1");
        assertEquals(model, elsewhere());
        assertEquals(2, objects.names(ObjectNaming.segments(1)).size());
    }

    @Test
    void aLocalCommitThatFailedIsShippedIfTheDatabaseHasIt() throws IOException {
        for (boolean isMade : new boolean[] {false, true}) {
            SteppedObjectStore before = objects;
            objects.names("").forEach(name -> {
                try {
                    before.delete(List.of(name));
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            model.clear();
            ShippedKeyValueStore store = remote().create(root.resolve("local" + isMade), how(Promise.LOCAL));
            commit(store, "a", "1");
            commits = (what, change) -> {
                if (isMade) {
                    change.make();
                }
                throw new IOException("the disk fails");
            };
            assertThrows(IOException.class, () -> commit(store, "b", "2"));
            commits = Steps.FREE;
            commit(store, "c", "3");
            store.ship();
            if (isMade) {
                model.put("ENTRY b", "2");
            }
            assertEquals(model, FolderKeyValueStore.records(store));
            assertEquals(model, elsewhere());
            assertEquals(0, store.statistics().checkpoints());
        }
    }

    @Test
    void whatOthersChangedInTheDatabaseGetsThereByACheckpoint() throws IOException {
        create(Promise.LOCAL).close();
        Path folder = root.resolve("here");
        try (Batch batch =
                FolderKeyValueStore.databases(Steps.FREE).open(folder).batch()) {
            batch.put(Family.INODE, new byte[] {'r'}, new byte[] {'1'});
            batch.commit();
        }
        model.put("INODE r", "1");
        ShippedKeyValueStore store = remote().open(folder, how(Promise.REMOTE));
        assertEquals(Map.of(), elsewhere());
        commit(store, "a", "1");
        assertEquals(model, elsewhere());
        assertEquals(1, store.statistics().checkpoints());
    }

    /** Data that a batch refers to: its number is the batch's value. */
    private final class Data implements DataBarrier {
        private long forced;
        private long stored;

        @Override
        public long mark() {
            return forced;
        }

        @Override
        public void await(long mark) {
            stored = Math.max(stored, mark);
        }
    }

    private void shipWithData(DataBarrier used, Data data) throws IOException {
        barrier = used;
        requests = (what, change) -> {
            change.make();
            if (what.startsWith("put " + ObjectNaming.LOG) || what.startsWith("put " + ObjectNaming.CHECKPOINTS)) {
                Steps seen = requests;
                requests = Steps.FREE;
                for (String number : elsewhere().values()) {
                    assertTrue(Long.parseLong(number) <= data.stored, what + " before data " + number);
                }
                requests = seen;
            }
        };
        ShippedKeyValueStore store = create(Promise.LOCAL);
        for (int i = 1; i < 20; i++) {
            data.forced = i;
            commit(store, "key" + i % 7, Integer.toString(i));
            if (i % 3 == 0) {
                store.ship();
            }
            if (i % 5 == 0) {
                store.checkpointToStore();
            }
        }
        store.ship();
    }

    @Test
    void aSegmentIsPutAfterTheDataOfItsCommits() throws IOException {
        Data data = new Data();
        shipWithData(data, data);
        assertEquals(model, elsewhere());
    }

    /** The control. */
    @Test
    void withoutTheBarrierMetadataComeBeforeTheirData() {
        assertThrows(AssertionError.class, () -> shipWithData(DataBarrier.NONE, new Data()));
    }

    @Test
    void aCollectionLeavesTheNewestCheckpointAndTheEndsOfParts() throws IOException {
        ShippedKeyValueStore store = create(Promise.LOCAL);
        for (int i = 0; i < 12; i++) {
            commit(store, "key" + i, "value" + i);
            store.ship();
            if (i % 4 == 3) {
                store.checkpointToStore();
                store.close();
                store = remote().open(root.resolve("here"), how(Promise.LOCAL));
            }
        }
        assertEquals(3, objects.names(ObjectNaming.CHECKPOINTS).size(), "within the grace");
        nowMs += 2 * Checkpoints.GRACE_MS;
        commit(store, "last", "1");
        store.checkpointToStore();
        nowMs += 2 * Checkpoints.GRACE_MS;
        commit(store, "very last", "1");
        store.checkpointToStore();
        // The newest is new: who began to read before has the one before.
        assertEquals(2, objects.names(ObjectNaming.CHECKPOINTS).size());
        nowMs += 2 * Checkpoints.GRACE_MS;
        store.checkpointToStore();
        assertEquals(1, objects.names(ObjectNaming.CHECKPOINTS).size());
        for (int lease = 0; lease < 4; lease++) {
            assertEquals(1, objects.names(ObjectNaming.segments(lease)).size(), "lease " + lease);
        }
        String list = new String(
                objects.readWhole(objects.names(ObjectNaming.CHECKPOINTS).get(0), 100_000), US_ASCII);
        for (String file : objects.names(ObjectNaming.FILES)) {
            assertTrue(list.contains(file), file + " is left");
        }
        assertEquals(model, elsewhere());
    }

    @Test
    void aFolderWithChangesThatAnotherOwnerDidNotHaveIsSetAside() throws IOException {
        ShippedKeyValueStore store = create(Promise.LOCAL);
        commit(store, "a", "1");
        store.ship();
        Map<String, String> shipped = new TreeMap<>(model);
        commit(store, "b", "not in the store");
        ShippedKeyValueStore other = remote().open(root.resolve("there"), how(Promise.LOCAL));
        assertEquals(shipped, FolderKeyValueStore.records(other));
        assertThrows(OwnerChangedException.class, store::ship);
        assertThrows(OwnerChangedException.class, () -> commit(store, "c", "1"));
        commit(other, "d", "4");
        other.close();
        ShippedKeyValueStore back = remote().open(root.resolve("here"), how(Promise.LOCAL));
        shipped.put("ENTRY d", "4");
        assertEquals(shipped, FolderKeyValueStore.records(back));
        assertTrue(Files.exists(root.resolve("here.diverged")));
    }

    @Test
    void aCopyFollowsEachOwner() throws IOException {
        ShippedKeyValueStore store = create(Promise.LOCAL);
        commit(store, "a", "1");
        store.ship();
        Path copy = root.resolve("copy");
        remote().copyTo(copy);
        ShippedKeyValueStore other = remote().open(root.resolve("there"), how(Promise.LOCAL));
        for (String key : List.of("b", "c", "d")) {
            commit(other, key, "2");
            other.ship();
            remote().copyTo(copy);
            assertEquals(
                    model,
                    FolderKeyValueStore.records(
                            FolderKeyValueStore.databases(Steps.FREE).open(copy)));
        }
        other.close();
        assertFalse(Files.exists(root.resolve("copy.diverged")), "it had no changes of its own");
    }

    @FunctionalInterface
    private interface Action {
        void run() throws IOException;
    }

    /** Tries an action again until it succeeds. */
    private static void insist(Action action) throws IOException {
        for (int tries = 1; ; tries++) {
            try {
                action.run();
                return;
            } catch (OwnerChangedException | CorruptionException e) {
                throw e;
            } catch (IOException e) {
                if (tries == 1000) {
                    throw e;
                }
            }
        }
    }

    /** A twentieth of the requests gets no answer; half of these take effect. */
    @Test
    void requestsWithoutAnAnswerAreMadeGoodByTheNextTry() {
        TestSeed.upTo(3).forEach(seed -> {
            try {
                goOn(root.resolve("run" + seed), new SplittableRandom(seed));
            } catch (IOException | AssertionError e) {
                throw new AssertionError(TestSeed.again(getClass(), seed), e);
            }
        });
    }

    private void goOn(Path folder, SplittableRandom random) throws IOException {
        objects.delete(objects.names(""));
        model.clear();
        requests = Steps.FREE;
        ShippedKeyValueStore[] store = {remote().create(folder, how(Promise.LOCAL))};
        requests = (what, change) -> {
            int fate = random.nextInt(40);
            if (fate != 0) {
                change.make();
            }
            if (fate < 2) {
                throw new UnavailableException("no answer");
            }
        };
        for (int i = 0; i < 150; i++) {
            String value = Integer.toString(i);
            int choice = random.nextInt(12);
            if (choice < 8) {
                String key = "key" + random.nextInt(9);
                insist(() -> commit(store[0], key, value));
            } else if (choice < 10) {
                insist(() -> store[0].ship());
            } else if (choice < 11) {
                nowMs += random.nextLong(Checkpoints.GRACE_MS);
                insist(() -> store[0].checkpointToStore());
            } else {
                try {
                    store[0].close();
                } catch (IOException e) {
                    // What is not in the store is put there by the next opening.
                    assertTrue(
                            store[0].statistics().waitingBytes() > 0 || e instanceof UnavailableException, e::toString);
                }
                Promise promise = random.nextBoolean() ? Promise.LOCAL : Promise.REMOTE;
                insist(() -> store[0] = remote().open(folder, how(promise)));
                assertEquals(model, FolderKeyValueStore.records(store[0]));
            }
        }
        insist(() -> store[0].ship());
        requests = Steps.FREE;
        assertEquals(model, elsewhere());
    }

    /** The former owner's collection runs between the files of the next one's checkpoint and their list. */
    @Test
    void aFormerOwnerRemovesNothingOfItsSuccessor() throws IOException {
        ShippedKeyValueStore former = create(Promise.REMOTE);
        commit(former, "a", "1");
        ShippedKeyValueStore next = remote().open(root.resolve("there"), how(Promise.REMOTE));
        commit(next, "b", "2");
        requests = (what, change) -> {
            if (what.startsWith("put " + ObjectNaming.CHECKPOINTS)) {
                requests = Steps.FREE;
                nowMs += 2 * Checkpoints.GRACE_MS;
                assertThrows(OwnerChangedException.class, former::checkpointToStore);
                nowMs += 2 * Checkpoints.GRACE_MS;
            }
            change.make();
        };
        next.checkpointToStore();
        commit(next, "c", "3");
        assertEquals(model, elsewhere());
        next.checkpointToStore();
        assertEquals(model, elsewhere());
    }

    /**
     * Between the reads of the next owner and the end that it puts, the present one makes a checkpoint and collects, so
     * that what the next one has read is not there any more.
     */
    @Test
    void anOpeningSharesOnlyTablesThatACollectionMeanwhileLeaves() throws IOException {
        ShippedKeyValueStore former = create(Promise.REMOTE);
        for (int i = 0; i < 8; i++) {
            commit(former, "key" + i, "1");
        }
        former.checkpointToStore();
        requests = (what, change) -> {
            if (what.startsWith("put " + ObjectNaming.LOG)) {
                requests = Steps.FREE;
                commit(former, "key0", "2");
                former.checkpointToStore();
                nowMs += 2 * Checkpoints.GRACE_MS;
                former.checkpointToStore();
                assertEquals(1, objects.names(ObjectNaming.CHECKPOINTS).size());
            }
            change.make();
        };
        ShippedKeyValueStore next = remote().open(root.resolve("there"), how(Promise.REMOTE));
        assertEquals(model, FolderKeyValueStore.records(next));
        commit(next, "key0", "1");
        next.checkpointToStore();
        nowMs += 2 * Checkpoints.GRACE_MS;
        next.checkpointToStore();
        assertEquals(model, elsewhere());
        for (String list : objects.names(ObjectNaming.CHECKPOINTS)) {
            for (String line : new String(objects.readWhole(list, 100_000), US_ASCII).split("\n")) {
                if (line.startsWith("file ")) {
                    objects.status(line.split(" ")[4]);
                }
            }
        }
    }

    @Test
    void manyThreadsCommitInOneOrder() throws Exception {
        ShippedKeyValueStore store = create(Promise.LOCAL);
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                try {
                    for (int j = 0; j < 40; j++) {
                        try (Batch batch = store.batch()) {
                            batch.put(Family.ENTRY, new byte[] {'k', (byte) ('0' + j % 5)}, new byte[] {
                                (byte) ('a' + number)
                            });
                            if (j % 3 == 0) {
                                batch.commitLater();
                            } else {
                                batch.commit();
                            }
                        }
                        if (j % 10 == number) {
                            store.ship();
                        }
                        if (j % 20 == number) {
                            store.checkpointToStore();
                        }
                    }
                } catch (IOException | RuntimeException | AssertionError e) {
                    synchronized (failures) {
                        failures.add(e);
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(List.of(), failures);
        store.ship();
        assertEquals(FolderKeyValueStore.records(store), elsewhere());
    }

    @Test
    void aFolderOfUnknownOriginIsRefused() throws IOException {
        create(Promise.LOCAL).close();
        Path folder = root.resolve("here");
        Files.delete(folder.resolve(LocalState.NAME));
        IOException refused = assertThrows(IOException.class, () -> remote().open(folder, how(Promise.LOCAL)));
        assertTrue(refused.getMessage().contains(LocalState.NAME), refused.getMessage());
        RemoteMetadata another = new RemoteMetadata(
                objects,
                new UUID(9, 9),
                null,
                FolderKeyValueStore.databases(Steps.FREE),
                Instant::now,
                tokens::nextLong,
                1);
        assertThrows(IOException.class, () -> another.copyTo(root.resolve("another")));
        assertThrows(IOException.class, () -> remote().create(root.resolve("second"), how(Promise.LOCAL)));
    }

    @Test
    void damageAndGapsAreFound() throws IOException {
        ShippedKeyValueStore store = create(Promise.REMOTE);
        for (int i = 0; i < 6; i++) {
            commit(store, "key" + i, "value" + i);
        }
        List<String> segments = objects.names(ObjectNaming.segments(1));
        for (String name : segments) {
            byte[] bytes = objects.readWhole(name, 100_000);
            for (int at = 0; at < bytes.length; at += 7) {
                byte[] damaged = bytes.clone();
                damaged[at] ^= 4;
                objects.damage(name, damaged);
                assertThrows(IOException.class, this::elsewhere, name + " at byte " + at);
            }
            objects.delete(List.of(name));
            if (name.equals(segments.get(segments.size() - 1))) {
                // Nothing shows that there was one.
                elsewhere();
            } else {
                assertThrows(CorruptionException.class, this::elsewhere, name);
            }
            objects.damage(name, bytes);
        }
        assertEquals(model, elsewhere());
    }

    @Test
    void anOlderCheckpointIsUsedInPlaceOfADamagedOne() throws IOException {
        ShippedKeyValueStore store = create(Promise.REMOTE);
        commit(store, "a", "1");
        store.checkpointToStore();
        commit(store, "b", "2");
        store.checkpointToStore();
        commit(store, "c", "3");
        List<String> lists = objects.names(ObjectNaming.CHECKPOINTS);
        byte[] list = objects.readWhole(lists.get(1), 100_000);
        objects.damage(lists.get(1), new byte[list.length]);
        assertEquals(model, elsewhere());
        objects.damage(lists.get(1), list);
        String file = new String(list, US_ASCII).split("file ")[1].split("[ \n]")[3];
        byte[] bytes = objects.readWhole(file, 100_000);
        objects.delete(List.of(file));
        elsewhere();
        assertEquals(model, elsewhere());
        objects.damage(file, new byte[bytes.length]);
        assertEquals(model, elsewhere());
    }

    @Test
    void anOwnerPutsAgainWhatIsDamagedInTheStore() throws IOException {
        ShippedKeyValueStore store = create(Promise.REMOTE);
        commit(store, "a", "1");
        // Of these, the checkpoint makes the first needless.
        commit(store, "a", "2");
        assertEquals(List.of(), store.mendCopy(bytes -> {}), "without a checkpoint");
        store.checkpointToStore();
        long read = 0;
        for (String kind : List.of(ObjectNaming.FILES, ObjectNaming.CHECKPOINTS, ObjectNaming.LOG)) {
            for (boolean isMissing : new boolean[] {true, false}) {
                if (kind.equals(ObjectNaming.LOG)) {
                    commit(store, "b", isMissing + kind);
                    commit(store, "c", isMissing + kind);
                }
                List<String> names = objects.names(kind);
                // The last segment is not missed by who reads the log: none follows it.
                String name = names.get(names.size() - (kind.equals(ObjectNaming.LOG) ? 2 : 1));
                if (isMissing) {
                    objects.delete(List.of(name));
                } else {
                    byte[] bytes = objects.readWhole(name, 100_000);
                    bytes[bytes.length / 2] ^= 1;
                    objects.damage(name, bytes);
                }
                assertNotEquals(model, stateElsewhere(), "the control, with " + name);
                long[] bytesRead = {0};
                assertFalse(store.mendCopy(bytes -> bytesRead[0] += bytes).isEmpty(), name);
                read += bytesRead[0];
                assertEquals(model, elsewhere(), name);
                assertEquals(List.of(), store.mendCopy(bytes -> {}), name);
            }
        }
        assertTrue(read > 0);
    }

    @Test
    void aSalvageGivesUpWhatFollowsDamageAndEndsTheFormerOwner() throws IOException {
        for (Damaged damaged : Damaged.values()) {
            objects.delete(objects.names(""));
            model.clear();
            Path folder = root.resolve(damaged.name());
            ShippedKeyValueStore first = remote().create(folder, how(Promise.REMOTE));
            commit(first, "a", "1");
            commit(first, "b", "2");
            first.checkpointToStore();
            first.close();
            ShippedKeyValueStore former = remote().open(folder, how(Promise.REMOTE));
            commit(former, "c", "3");
            Map<String, String> kept = Map.copyOf(model);
            for (int i = 0; i < 5; i++) {
                commit(former, "lost", "" + i);
            }
            List<String> log = objects.names(ObjectNaming.LOG);
            damaged.make(objects, log.get(log.size() - 5), log.get(log.size() - 1));
            assertThrows(IOException.class, this::elsewhere, "the control");
            try (Stream<Path> here = Files.list(root)) {
                assertFalse(
                        here.anyMatch(each -> each.toString().contains("diverged")),
                        "nothing here is of another owner");
            }
            List<String> lost = new ArrayList<>();
            Path salvaged = root.resolve(damaged + "-salvaged");
            ShippedKeyValueStore store = remote().salvage(salvaged, how(Promise.REMOTE), lost::add);
            assertTrue(lost.get(0).contains("is lost, because"), lost::toString);
            model.clear();
            model.putAll(kept);
            if (damaged == Damaged.LAST_IS_DAMAGED) {
                model.put("ENTRY lost", "3");
            }
            assertEquals(model, elsewhere(), damaged::toString);
            assertThrows(IOException.class, () -> commit(former, "late", "1"), "the former owner is fenced");
            model.remove("ENTRY late");
            commit(store, "new", "1");
            assertEquals(model, elsewhere(), damaged::toString);
            store.close();
            ShippedKeyValueStore next = remote().open(root.resolve(damaged + "-next"), how(Promise.REMOTE));
            commit(next, "next", "1");
            next.close();
            assertEquals(model, elsewhere(), damaged::toString);
        }
    }

    /** Damage of the log. */
    private enum Damaged {
        LAST_IS_DAMAGED,
        MIDDLE_IS_MISSING,
        MIDDLE_IS_DAMAGED,
        MIDDLE_AND_LAST_ARE_DAMAGED;

        void make(SteppedObjectStore objects, String middle, String last) throws IOException {
            if (this == MIDDLE_IS_MISSING) {
                objects.delete(List.of(middle));
                return;
            }
            if (this != LAST_IS_DAMAGED) {
                objects.damage(middle, new byte[100]);
            }
            if (this != MIDDLE_IS_DAMAGED) {
                objects.damage(last, new byte[100]);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Damaged.class)
    void aDamagedLogStopsNoMachineThatHasWhatItHad(Damaged damaged) throws IOException {
        ShippedKeyValueStore first = create(Promise.REMOTE);
        commit(first, "a", "1");
        Path copy = root.resolve("early");
        remote().copyTo(copy);
        first.checkpointToStore();
        for (int i = 0; i < 6; i++) {
            commit(first, "key", "" + i);
        }
        List<String> log = objects.names(ObjectNaming.LOG);
        damaged.make(objects, log.get(log.size() - 4), log.get(log.size() - 1));
        assertNotEquals(model, stateElsewhere(), "the control");
        // It was killed.
        ShippedKeyValueStore again = remote().open(root.resolve("here"), how(Promise.REMOTE));
        assertEquals(model, FolderKeyValueStore.records(again));
        commit(again, "b", "2");
        again.mendCopy(bytes -> {});
        assertEquals(model, elsewhere(), "the scrub mended it");
        commit(again, "c", "3");
        remote().copyTo(copy);
        assertEquals(
                model,
                FolderKeyValueStore.records(
                        FolderKeyValueStore.databases(Steps.FREE).open(copy)),
                "an earlier copy is of no use any more");
        assertFalse(Files.exists(root.resolve("early.diverged")), "it had no changes of its own");
        again.close();
        remote().open(root.resolve("here"), how(Promise.REMOTE)).close();
        assertFalse(Files.exists(root.resolve("here.diverged")), "it has all");
    }

    /** Steps of which one fails, and all that follow: with or without the change of the first. */
    private static final class Crash implements Steps {
        private final int at;
        private final boolean isMade;
        private int steps;

        Crash(int at, boolean isMade) {
            this.at = at;
            this.isMade = isMade;
        }

        @Override
        public void at(String what, Change change) throws IOException {
            steps++;
            if (steps < at || steps == at && isMade) {
                change.make();
            }
            if (steps >= at) {
                throw new IOException("the machine has stopped");
            }
        }
    }

    @Test
    void aCrashWhileALogIsLeaptOverLosesNothing() throws IOException {
        boolean isOpened = false;
        for (int at = 1; !isOpened; at++) {
            for (Damaged damaged : Damaged.values()) {
                objects.delete(objects.names(""));
                model.clear();
                Path folder = root.resolve("crash" + at + damaged);
                ShippedKeyValueStore store = remote().create(folder, how(Promise.REMOTE));
                for (int i = 0; i < 5; i++) {
                    commit(store, "key" + i, "1");
                }
                List<String> log = objects.names(ObjectNaming.LOG);
                damaged.make(objects, log.get(2), log.get(log.size() - 1));
                requests = new Crash(at / 2 + 1, at % 2 == 0);
                try {
                    remote().open(folder, how(Promise.REMOTE)).ship();
                    isOpened = true;
                } catch (IOException e) {
                    // As it shall be.
                }
                requests = Steps.FREE;
                ShippedKeyValueStore again = remote().open(folder, how(Promise.REMOTE));
                again.ship();
                assertEquals(model, FolderKeyValueStore.records(again), "request " + at / 2 + ", " + damaged);
                assertEquals(model, elsewhere(), "request " + at / 2 + ", " + damaged);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Damaged.class)
    void aFormerOwnerWhoseChangesASalvageGaveUpOpensTheVolume(Damaged damaged) throws IOException {
        ShippedKeyValueStore former = create(Promise.REMOTE);
        commit(former, "a", "1");
        for (int i = 0; i < 6; i++) {
            commit(former, "lost", "" + i);
        }
        List<String> log = objects.names(ObjectNaming.LOG);
        damaged.make(objects, log.get(2), log.get(log.size() - 1));
        ShippedKeyValueStore salvaged = remote().salvage(root.resolve("there"), how(Promise.REMOTE), lost -> {});
        model.clear();
        model.put("ENTRY a", "1");
        if (damaged == Damaged.LAST_IS_DAMAGED) {
            model.put("ENTRY lost", "4");
        }
        commit(salvaged, "b", "2");
        salvaged.close();
        ShippedKeyValueStore back = remote().open(root.resolve("here"), how(Promise.REMOTE));
        assertEquals(model, FolderKeyValueStore.records(back));
        assertTrue(Files.exists(root.resolve("here.diverged")), "what was given up is kept");
    }

    /** A scrub reads slowly, so that programs are not held up. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void checkpointsArePutWhileAScrubReads() throws IOException {
        ShippedKeyValueStore store = create(Promise.REMOTE);
        commit(store, "a", "1");
        store.checkpointToStore();
        commit(store, "b", "2");
        AtomicBoolean isPut = new AtomicBoolean();
        assertEquals(List.of(), store.mendCopy(bytes -> {
            if (!isPut.getAndSet(true)) {
                CompletableFuture.runAsync(() -> {
                            try {
                                store.checkpointToStore();
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        })
                        .join();
            }
        }));
        assertTrue(isPut.get());
        assertEquals(model, elsewhere());
    }

    @Test
    void theLossOfTheLastSegmentsIsFoundByWhatTheLeaseNotes() throws IOException {
        ShippedKeyValueStore owner = create(Promise.REMOTE);
        commit(owner, "a", "1");
        Map<String, String> kept = Map.copyOf(model);
        commit(owner, "b", "2");
        commit(owner, "c", "3");
        String noted = owner.end();
        remote().expecting(noted, "lease").copyTo(root.resolve("whole"));
        List<String> log = objects.names(ObjectNaming.LOG);
        objects.delete(log.subList(log.size() - 2, log.size()));
        assertEquals(kept, elsewhere(), "control: without the note nothing is found");
        CorruptionException found = assertThrows(
                CorruptionException.class,
                () -> remote().expecting(noted, "lease").copyTo(root.resolve("copy")));
        assertTrue(String.valueOf(found.getMessage()).contains(log.get(log.size() - 2)), found::getMessage);
        Path bare = root.resolve("bare");
        assertThrows(
                CorruptionException.class,
                () -> remote().expecting(noted, "lease").open(bare, how(Promise.REMOTE)));

        // The machine that has what is missing puts it again.
        remote().expecting(noted, "lease")
                .open(root.resolve("here"), how(Promise.REMOTE))
                .ship();
        assertEquals(model, elsewhere());
    }

    @Test
    void aSalvageGivesUpTheLastSegmentsAndKeepsAFolderThatHasThem() throws IOException {
        ShippedKeyValueStore owner = create(Promise.REMOTE);
        commit(owner, "a", "1");
        Map<String, String> kept = Map.copyOf(model);
        commit(owner, "b", "2");
        String noted = owner.end();
        List<String> log = objects.names(ObjectNaming.LOG);
        objects.delete(log.subList(log.size() - 1, log.size()));
        List<String> lost = new ArrayList<>();
        ShippedKeyValueStore salvaged =
                remote().expecting(noted, "lease").salvage(root.resolve("there"), how(Promise.REMOTE), lost::add);
        assertTrue(lost.get(0).startsWith("what the log segments 2 to 2 changed is lost"), lost::toString);
        assertEquals(kept, elsewhere());
        String next = salvaged.end();
        salvaged.close();
        ShippedKeyValueStore back = remote().expecting(next, "lease").open(root.resolve("here"), how(Promise.REMOTE));
        assertEquals(kept, FolderKeyValueStore.records(back));
        assertTrue(Files.exists(root.resolve("here.diverged")));
    }

    @Test
    void aSalvageThatFailsLeavesTheFolder() throws IOException {
        ShippedKeyValueStore store = create(Promise.REMOTE);
        commit(store, "a", "1");
        Map<String, String> early = Map.copyOf(model);
        Path folder = root.resolve("there");
        remote().copyTo(folder);
        commit(store, "b", "2");
        commit(store, "c", "3");
        List<String> log = objects.names(ObjectNaming.LOG);
        objects.delete(log.subList(1, log.size() - 1));
        assertThrows(CorruptionException.class, () -> remote().salvage(folder, how(Promise.REMOTE), lost -> {}));
        assertFalse(Files.exists(root.resolve("there.diverged")));
        assertEquals(
                early,
                FolderKeyValueStore.records(
                        FolderKeyValueStore.databases(Steps.FREE).open(folder)));
    }

    @Test
    void anOpeningRemovesTheCopiesThatACrashLeft() throws IOException {
        create(Promise.LOCAL).close();
        List<Path> left = Stream.of(".checkpoint", ".leap", ".restoring", ".salvaged")
                .map(suffix -> root.resolve("here" + suffix))
                .toList();
        for (Path copy : left) {
            Files.createDirectory(copy);
            Files.writeString(copy.resolve("1.sst"), "");
        }
        remote().open(root.resolve("here"), how(Promise.LOCAL)).close();
        assertEquals(List.of(), left.stream().filter(Files::exists).toList());
    }

    @Test
    void aSalvageGivesUpNothingThatAnOpeningWouldFind() throws IOException {
        ShippedKeyValueStore store = create(Promise.LOCAL);
        commit(store, "a", "1");
        store.ship();
        commit(store, "b", "not in the store");
        ShippedKeyValueStore salvaged = remote().salvage(root.resolve("here"), how(Promise.REMOTE), lost -> {});
        assertEquals(model, FolderKeyValueStore.records(salvaged));
        salvaged.close();
        assertEquals(model, elsewhere());
    }

    @Test
    void nothingIsSalvagedWhereNoStateCanBeRead() throws IOException {
        ShippedKeyValueStore store = create(Promise.REMOTE);
        commit(store, "a", "1");
        commit(store, "b", "2");
        store.checkpointToStore();
        store.close();
        objects.delete(objects.names(ObjectNaming.CHECKPOINTS));
        List<String> before = objects.names("");
        assertThrows(
                CorruptionException.class,
                () -> remote().salvage(root.resolve("salvaged"), how(Promise.REMOTE), lost -> {}));
        assertEquals(before, objects.names(""), "nothing was changed");
    }

    /** As {@link #elsewhere}; null if the store cannot be opened. */
    private @Nullable Map<String, String> stateElsewhere() {
        try {
            return elsewhere();
        } catch (IOException e) {
            return null;
        }
    }

    @Test
    void itShipsAndMakesCheckpointsByItself() throws IOException {
        ShippedKeyValueStore store = remote().create(
                        root.resolve("here"),
                        new RemoteMetadata.Shipping(
                                Promise.LOCAL, DataBarrier.NONE, new ShippingLimits(1000, 100, 100_000, 3)));
        store.start("test");
        List<Integer> made = new ArrayList<>();
        TestWait.until(() -> {
            if (store.statistics().waitingBytes() == 0) {
                commit(store, "key" + made.size(), "1");
                made.add(1);
            }
            return store.statistics().checkpoints() > 0;
        });
        store.close();
        assertFalse(made.isEmpty());
        assertEquals(model, elsewhere());
    }
}
