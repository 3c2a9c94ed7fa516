package org.opendedup.sar.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InterruptedIOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;

@Timeout(60)
final class GracePeriodTest {
    private static final int READERS = 3;
    private static final int UPDATERS = 2;

    private final GracePeriod period = new GracePeriod();

    @Test
    void nothingIsWaitedForIfEachUseIsClosed() throws Exception {
        period.await();
        long before = waits();
        period.await();
        period.begin().close();
        period.await();
        assertEquals(before, waits());
    }

    /** Returns how often this thread has waited for something since it was started. */
    private static long waits() {
        long self = Thread.currentThread().getId();
        return ManagementFactory.getThreadMXBean().getThreadInfo(self).getWaitedCount();
    }

    @Test
    void theUsesThatBeganBeforeAreWaitedFor() throws Exception {
        GracePeriod.Use first = period.begin();
        GracePeriod.Use second = period.begin();
        Waiter waiter = new Waiter();
        waiter.expectWaiting();
        first.close();
        waiter.expectWaiting();
        second.close();
        waiter.result.get();
    }

    @Test
    void aUseThatBeginsLaterIsNotWaitedFor() throws Exception {
        GracePeriod.Use before = period.begin();
        Waiter waiter = new Waiter();
        waiter.expectWaiting();
        GracePeriod.Use later = period.begin();
        before.close();
        waiter.result.get();
        Waiter second = new Waiter();
        second.expectWaiting();
        later.close();
        second.result.get();
    }

    @Test
    void aUseBetweenTwoWaitsIsWaitedForByTheSecondOnly() throws Exception {
        GracePeriod.Use before = period.begin();
        Waiter first = new Waiter();
        first.expectWaiting();
        GracePeriod.Use between = period.begin();
        Waiter second = new Waiter();
        second.expectWaiting();
        before.close();
        first.result.get();
        second.expectWaiting();
        between.close();
        second.result.get();
    }

    @Test
    void anInterruptedWaitLeavesItsUsesToTheNextOne() throws Exception {
        GracePeriod.Use before = period.begin();
        Waiter first = new Waiter();
        first.expectWaiting();
        first.thread.interrupt();
        ExecutionException e = assertThrows(ExecutionException.class, first.result::get);
        assertInstanceOf(InterruptedIOException.class, e.getCause());
        Waiter second = new Waiter();
        second.expectWaiting();
        before.close();
        second.result.get();
    }

    @Test
    void noReaderSeesWhatWasDestroyedAfterAWait() throws Exception {
        long seed = TestSeed.next();
        assertEquals(0, destroyedInUse(new Random(seed), 3_000, period::await));
    }

    @Test
    void controlWithoutAWaitReadersSeeWhatWasDestroyed() throws Exception {
        long seed = TestSeed.next();
        long seen = 0;
        for (int run = 0; run < 1_000 && seen == 0; run++) {
            seen = destroyedInUse(new Random(seed + run), 1_000, () -> {});
        }
        assertTrue(seen > 0, "a wait that waits for nothing was not noticed");
    }

    /** A thread that waits, or has waited. */
    private final class Waiter {
        final FutureTask<Void> result = new FutureTask<>(() -> {
            period.await();
            return null;
        });
        final Thread thread = new Thread(result, "waiter");

        Waiter() {
            thread.setDaemon(true);
            thread.start();
        }

        /** Returns when the thread waits; fails if its wait is over. */
        void expectWaiting() {
            while (thread.getState() != Thread.State.WAITING) {
                assertTrue(thread.isAlive() && !result.isDone(), "it did not wait");
                Thread.onSpinWait();
            }
        }
    }

    @FunctionalInterface
    private interface Waiting {
        void await() throws InterruptedIOException;
    }

    private static final class Resource {
        volatile boolean destroyed;
    }

    /** Returns how often a reader found a resource destroyed that it was using. */
    private long destroyedInUse(Random random, int rounds, Waiting waiting) throws Exception {
        AtomicLong found = new AtomicLong();
        AtomicBoolean ended = new AtomicBoolean();
        AtomicReferenceArray<Resource> current =
                new AtomicReferenceArray<>(new Resource[] {new Resource(), new Resource()});
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Future<Void>> readers = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                Random own = new Random(random.nextLong());
                readers.add(threads.submit((Callable<Void>) () -> {
                    while (!ended.get()) {
                        try (GracePeriod.Use use = period.begin()) {
                            Resource resource = current.get(own.nextInt(UPDATERS));
                            for (int pauses = own.nextInt(4); pauses > 0; pauses--) {
                                Thread.yield();
                            }
                            if (resource.destroyed) {
                                found.incrementAndGet();
                            }
                        }
                    }
                    return null;
                }));
            }
            List<Future<Void>> updaters = new ArrayList<>();
            for (int i = 0; i < UPDATERS; i++) {
                int place = i;
                updaters.add(threads.submit((Callable<Void>) () -> {
                    for (int round = 0; round < rounds; round++) {
                        Resource old = current.getAndSet(place, new Resource());
                        waiting.await();
                        old.destroyed = true;
                    }
                    return null;
                }));
            }
            for (Future<Void> updater : updaters) {
                updater.get();
            }
            ended.set(true);
            for (Future<Void> reader : readers) {
                reader.get();
            }
            return found.get();
        } finally {
            ended.set(true);
            threads.shutdownNow();
        }
    }
}
