package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CommitTurnsTest {
    private static final int THREADS = 8;

    private final CommitTurns turns = new CommitTurns();
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private final AtomicInteger commits = new AtomicInteger();

    @AfterEach
    void end() throws InterruptedException {
        threads.shutdownNow();
        assertTrue(threads.awaitTermination(10, TimeUnit.SECONDS));
    }

    @Test
    void oneCommitServesAllThatWaitForTheOneBefore() throws Exception {
        long first = turns.begin();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> commit(true));
            thread.start();
            all.add(thread);
        }
        for (Thread thread : all) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        }
        turns.end(first);
        for (Thread thread : all) {
            thread.join();
        }
        assertEquals(1, commits.get());
    }

    @Test
    void aFailedCommitAnswersNobody() throws Exception {
        long first = turns.begin();
        CountDownLatch asked = new CountDownLatch(1);
        Future<?> other = threads.submit(() -> {
            asked.countDown();
            commit(true);
        });
        asked.await();
        turns.end(0);
        other.get();
        assertEquals(1, commits.get());
        assertEquals(1, first);
    }

    @Test
    void whatIsAskedWhileACommitRunsNeedsAnother() throws Exception {
        int rounds = 200;
        AtomicInteger state = new AtomicInteger();
        AtomicInteger durable = new AtomicInteger();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            all.add(threads.submit(() -> {
                for (int round = 0; round < rounds; round++) {
                    int mine = state.incrementAndGet();
                    long upTo = turns.begin();
                    if (upTo > 0) {
                        durable.set(state.get());
                        turns.end(upTo);
                    }
                    assertTrue(durable.get() >= mine, "a change is not in the commit that answered it");
                }
                return null;
            }));
        }
        for (Future<?> one : all) {
            one.get();
        }
    }

    private void commit(boolean succeeds) {
        long upTo = turns.begin();
        if (upTo > 0) {
            commits.incrementAndGet();
            turns.end(succeeds ? upTo : 0);
        }
    }
}
