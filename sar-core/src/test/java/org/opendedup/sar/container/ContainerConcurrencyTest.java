package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.io.CrashDirectory;

/**
 * Several streams write and others read, while one thread commits, ends containers, makes the disk full or fail,
 * revives containers and looks at what a crash would leave. The model is the chunks that were committed: they can be
 * read at any time, and after any crash. No thread waits for ever.
 */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@TestCiphers.PlainAndEncrypted
final class ContainerConcurrencyTest extends StoreTest {
    private static final int RUNS = TestSeed.rounds(10);
    private static final int STREAMS = 4;
    private static final int STEPS = 40;
    private static final int CHUNKS_PER_STEP = 100;

    @AutoClose("shutdownNow")
    private final ExecutorService threads = Executors.newCachedThreadPool();

    /** What happened in all runs, so that a run without any of it is noticed. */
    private final AtomicInteger refusals = new AtomicInteger();

    private int shortages;
    private int failures;
    private int revivals;
    private int losses;
    private int commits;

    @Test
    void whatIsCommittedIsReadableAtAnyTimeAndAfterAnyCrash() throws Exception {
        for (int run = 0; run < RUNS; run++) {
            new Run(new CrashDirectory(seed + run), seed + run).run();
        }
        String what = commits + " commits, " + shortages + " shortages, " + failures + " failures, " + revivals
                + " revivals, " + losses + " losses, " + refusals + " refusals";
        System.out.println(what);
        assertTrue(commits > RUNS && shortages > 0 && failures > 0 && revivals > 0, what);
    }

    @Test
    void theCheckNoticesADiskThatForgets() throws Exception {
        boolean noticed = false;
        for (int run = 0; run < RUNS && !noticed; run++) {
            try {
                new Run(new CrashDirectory(seed + run, true), seed + run).run();
            } catch (CorruptionException | AssertionError expected) {
                noticed = true;
            }
        }
        assertTrue(noticed, "sar.seed=" + seed);
    }

    private final class Run {
        private final CrashDirectory disk;
        private final long runSeed;
        private final Random random;
        private final TestChunks chunks = new TestChunks();
        /** Held shared while a chunk is appended and noted, exclusively while lost ones are given up. */
        private final ReentrantReadWriteLock giveUp = new ReentrantReadWriteLock(true);

        /** Chunks that the writers may append until the next step. */
        private final Semaphore toAppend = new Semaphore(0);

        private final AtomicBoolean writing = new AtomicBoolean(true);
        /** The model. Replaced, never changed. */
        private volatile Map<Long, byte[]> committed = Map.of();

        Run(CrashDirectory disk, long runSeed) {
            this.disk = disk;
            this.runSeed = runSeed;
            random = new Random(runSeed);
        }

        void run() throws Exception {
            fixture.lastId.set(0);
            fixture.frameTables.clear();
            List<Future<?>> others = new ArrayList<>();
            try (ContainerStore store = fixture.open(disk)) {
                try {
                    for (int stream = 1; stream <= STREAMS; stream++) {
                        long number = stream;
                        others.add(threads.submit(() -> write(store, number)));
                    }
                    others.add(threads.submit(() -> read(store)));
                    for (int step = 0; step < STEPS; step++) {
                        step(store, step);
                        append();
                    }
                } finally {
                    endFaults();
                    writing.set(false);
                    // So that none waits for space or for a revival.
                    goOn(store);
                    for (Future<?> other : others) {
                        await(other);
                    }
                }
                goOn(store);
                store.endAll();
                commit(store);
                chunks.assertAllReadable(store);
            }
            CrashDirectory left = fixture.crash(disk, STEPS);
            try (ContainerStore store = fixture.openWithoutTables(left)) {
                if (losses == 0) {
                    assertEquals(List.of(), store.recovered());
                }
                assertReadable(store, committed);
            }
        }

        private void await(Future<?> other) throws Exception {
            try {
                other.get(1, TimeUnit.MINUTES);
            } catch (ExecutionException e) {
                throw new AssertionError("sar.seed=" + seed, e.getCause());
            }
        }

        private Object write(ContainerStore store, long stream) throws InterruptedException {
            Random own = new Random(runSeed * 31 + stream);
            while (writing.get()) {
                try (ContainerWriter writer = store.writer(stream + STREAMS * own.nextInt(2))) {
                    for (int i = own.nextInt(60); i > 0 && mayAppend(); i--) {
                        giveUp.readLock().lock();
                        try {
                            chunks.append(writer, TestChunks.chunk(own, own.nextInt(20) == 0 ? 9000 : 1500));
                        } finally {
                            giveUp.readLock().unlock();
                        }
                    }
                } catch (IOException refused) {
                    refusals.incrementAndGet();
                    Thread.yield();
                }
            }
            return stream;
        }

        /**
         * Lets the writers append, and waits until they did, the store refused one of them, or they wait for it: on a
         * busy machine the next step would come before them, and the fault of this one would meet nobody.
         */
        private void append() {
            int before = refusals.get();
            long latest = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(10);
            toAppend.release(CHUNKS_PER_STEP);
            TestWait.until(
                    () -> toAppend.availablePermits() == 0 || refusals.get() > before || System.nanoTime() > latest);
        }

        /** Waits until there is a chunk to append; returns false at the end of the run. */
        private boolean mayAppend() throws InterruptedException {
            while (writing.get()) {
                if (toAppend.tryAcquire(10, TimeUnit.MILLISECONDS)) {
                    return true;
                }
            }
            return false;
        }

        private Object read(ContainerStore store) throws IOException {
            while (writing.get()) {
                assertReadable(store, committed);
                for (Map.Entry<Long, byte[]> each : chunks.byId.entrySet()) {
                    try {
                        assertArrayEquals(each.getValue(), TestChunks.read(store, each.getKey()));
                    } catch (IOException lostOrInDoubt) {
                        assertFalse(committed.containsKey(each.getKey()), lostOrInDoubt::toString);
                    }
                }
            }
            return committed;
        }

        private void step(ContainerStore store, int step) throws IOException {
            switch (random.nextInt(14)) {
                case 0 -> disk.failAppend(1 + random.nextInt(20));
                case 1 -> disk.failForce(1 + random.nextInt(4));
                case 2 -> StoreFixture.limit(disk, random.nextInt(20_000));
                case 3 -> disk.noSpaceAfter(Long.MAX_VALUE);
                case 4, 5 -> store.endAll();
                case 6, 7 -> crash(step);
                default -> tryToCommit(store);
            }
        }

        private void endFaults() {
            disk.failAppend(Long.MAX_VALUE);
            disk.failForce(Long.MAX_VALUE);
            disk.noSpaceAfter(Long.MAX_VALUE);
        }

        private void tryToCommit(ContainerStore store) throws IOException {
            try {
                commit(store);
            } catch (NoSpaceException e) {
                shortages++;
                if (random.nextBoolean()) {
                    disk.noSpaceAfter(Long.MAX_VALUE);
                }
            } catch (IOException e) {
                failures++;
                if (random.nextInt(4) > 0) {
                    revive(store);
                }
            }
        }

        private void commit(ContainerStore store) throws IOException {
            Map<Long, byte[]> appended = new HashMap<>(chunks.byId);
            fixture.commit(store);
            committed = appended;
            commits++;
            fixture.table(disk).forEach((container, entry) -> assertTrue(entry.pack() >= container));
        }

        /** Revives what can be revived, and gives the rest up. */
        private void revive(ContainerStore store) throws IOException {
            try {
                store.revive();
                revivals++;
            } catch (CorruptionException e) {
                giveUpLost(store);
            } catch (IOException stillFails) {
                failures++;
            }
        }

        private void giveUpLost(ContainerStore store) {
            giveUp.writeLock().lock();
            try {
                losses++;
                assertThrows(IOException.class, store::force);
                chunks.byId.keySet().removeIf(store::isLost);
                assertTrue(chunks.byId.keySet().containsAll(committed.keySet()), "a committed chunk is lost");
                store.abandonLost();
            } finally {
                giveUp.writeLock().unlock();
            }
        }

        /** Makes the store work again on a disk without faults. */
        private void goOn(ContainerStore store) throws IOException {
            endFaults();
            for (int attempt = 0; attempt < 10; attempt++) {
                try {
                    commit(store);
                    return;
                } catch (IOException e) {
                    revive(store);
                }
            }
            commit(store);
        }

        private void crash(int step) throws IOException {
            CrashDirectory left = fixture.crash(disk, step);
            try (ContainerStore store = fixture.openWithoutTables(left)) {
                assertReadable(store, committed);
                fixture.commit(store);
                assertReadable(store, committed);
            }
            fixture.table(left)
                    .forEach((container, entry) ->
                            assertEquals(StoredContainer.State.SEALED, entry.state(), "container " + container));
        }

        private void assertReadable(ContainerStore store, Map<Long, byte[]> expected) throws IOException {
            for (Map.Entry<Long, byte[]> each : expected.entrySet()) {
                assertArrayEquals(
                        each.getValue(),
                        TestChunks.read(store, each.getKey()),
                        () -> "sar.seed=" + seed + ": " + ChunkId.toString(each.getKey()));
            }
        }
    }
}
