package org.opendedup.sar.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The order of turns of different importance, on a hard disk whose time the test makes pass. */
@Timeout(60)
final class ImportanceTest {
    private static final long MS = 1_000_000;

    private final AtomicLong clock = new AtomicLong();
    private final DiskQueue queue = new DiskQueue(DiskOption.parse("hdd"), true, clock::get, OptionalLong::empty);
    private final List<String> order = Collections.synchronizedList(new ArrayList<>());
    private final List<Thread> threads = new ArrayList<>();

    /** Begins to wait for a turn that takes {@code millis}, and notes when it has it. Returns once it waits. */
    private void start(String name, Importance importance, long millis) {
        int before = waiting();
        Thread thread = new Thread(() -> {
            try (DiskQueue.Turn turn = queue.enter(importance)) {
                order.add(name);
                clock.addAndGet(millis * MS);
            }
        });
        thread.start();
        threads.add(thread);
        // One that is blocked has not said yet that its turn can begin.
        DiskQueueTest.await(() -> waiting() == before + 1 && isWaiting(thread.getState()));
    }

    private static boolean isWaiting(Thread.State state) {
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }

    private int waiting() {
        DiskStatus status = queue.status();
        return status.waiting() + status.background();
    }

    /** Makes time pass until all have had their turns; while readers wait, only their turns take time. */
    private void join() throws InterruptedException {
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                if (queue.status().waiting() == 0) {
                    clock.addAndGet(MS / 10);
                }
                thread.join(1);
            }
        }
    }

    private void assertBackgroundStillWaits() throws InterruptedException {
        // A turn that may begin would begin within this time; on a slow machine the check notices less.
        Thread.sleep(20);
        assertEquals(List.of(), order);
        assertEquals(1, queue.status().background());
    }

    @Test
    void theMostImportantComesFirstWhoeverAskedFirst() throws InterruptedException {
        try (DiskQueue.Turn first = queue.enter(Importance.STEP)) {
            start("background", Importance.BACKGROUND, 1);
            start("step", Importance.STEP, 1);
            start("request", Importance.REQUEST, 1);
        }
        join();
        assertEquals(List.of("request", "step", "background"), order);
    }

    /** A control of the test above. */
    @Test
    void withoutImportanceTheReaderWaits() throws InterruptedException {
        try (DiskQueue.Turn first = queue.enter(Importance.STEP)) {
            start("background", Importance.STEP, 1);
            start("step", Importance.STEP, 1);
            start("request", Importance.STEP, 1);
        }
        join();
        assertEquals(List.of("background", "step", "request"), order);
    }

    @Test
    void theBackgroundWaitsForAPauseOfTheReaders() throws InterruptedException {
        try (DiskQueue.Turn reader = queue.enter(Importance.STEP)) {
            clock.addAndGet(5 * MS);
        }
        start("background", Importance.BACKGROUND, 1);
        clock.addAndGet(queue.model().seekNanos() - MS);
        assertBackgroundStillWaits();
        clock.addAndGet(MS);
        DiskQueueTest.await(() -> !order.isEmpty());
        join();
    }

    @Test
    void anUnusedDiskIsForTheBackgroundAtOnce() throws InterruptedException {
        try (DiskQueue.Turn turn = queue.enter(Importance.BACKGROUND);
                DiskQueue.SingleRead beside = queue.singleRead()) {
            assertEquals(1, queue.status().readers());
        }
        clock.addAndGet(queue.model().seekNanos());
        queue.enter(Importance.BACKGROUND).close();
        queue.enter(Importance.BACKGROUND).close();
        assertEquals(3, queue.turns());
    }

    @Test
    void readsOfSingleFramesThatNeverPauseLetItInAfterItsPatience() throws InterruptedException {
        try (DiskQueue.SingleRead read = queue.singleRead()) {
            start("first", Importance.BACKGROUND, 20);
            // Nothing is measured, so the turn is expected to take a seek and 4 MiB at 150 MB/s: 41 ms.
            clock.addAndGet(360 * MS);
            assertBackgroundStillWaits();
            clock.addAndGet(10 * MS);
            DiskQueueTest.await(() -> queue.turns() == 1 && queue.status().readers() == 0);
            order.clear();
            // That turn took 20 ms.
            start("second", Importance.BACKGROUND, 20);
            clock.addAndGet(179 * MS);
            assertBackgroundStillWaits();
            clock.addAndGet(MS);
            DiskQueueTest.await(() -> order.equals(List.of("second")));
        }
        join();
    }

    @Test
    void itOvertakesReadersThatWaitOnce() throws InterruptedException {
        try (DiskQueue.Turn first = queue.enter(Importance.STEP)) {
            start("background", Importance.BACKGROUND, 10);
            start("background again", Importance.BACKGROUND, 10);
            start("request", Importance.REQUEST, 10);
            start("step", Importance.STEP, 10);
            clock.addAndGet(400 * MS);
        }
        join();
        assertEquals(List.of("background", "request", "step", "background again"), order);
    }

    @Test
    void requestsLeaveStepsHalfOfTheDisk() throws InterruptedException {
        try (DiskQueue.Turn step = queue.enter(Importance.STEP)) {
            start("step", Importance.STEP, 100);
            for (int i = 0; i < 5; i++) {
                start("request " + i, Importance.REQUEST, 40);
            }
            clock.addAndGet(100 * MS);
        }
        join();
        // The step waits for 100 ms, as long as the one before it took.
        assertEquals(List.of("request 0", "request 1", "request 2", "step", "request 3", "request 4"), order);
    }

    @Test
    void whoGivesUpItsTurnLetsTheNextIn() throws InterruptedException {
        try (DiskQueue.Turn notNeeded = queue.next(Importance.STEP)) {
            start("background", Importance.BACKGROUND, 1);
            clock.addAndGet(100 * MS);
            assertBackgroundStillWaits();
        }
        DiskQueueTest.await(() -> !order.isEmpty());
        join();
        assertFalse(queue.status().readers() > 0);
    }

    /** Two containers that lie one after another in a pack are no seek; the same distance in two packs is. */
    @Test
    void thePlaceInThePackTellsWhetherTheDiskSeeks() {
        assertEquals(List.of("SEEKS", "CONTINUES", "SKIPS", "SEEKS", "SEEKS", "SEEKS"), kinds(new long[][] {
            {7, 0}, {7, 4096}, {7, 10_000}, {7, 8_000}, {8, 12_096}, {8, 100L << 20}
        }));
    }

    private List<String> kinds(long[][] places) {
        List<String> kinds = new ArrayList<>();
        try (DiskQueue.Turn turn = queue.enter(Importance.STEP)) {
            for (long[] place : places) {
                kinds.add(turn.kind(place[0], place[1]).name());
                turn.requested(place[0], place[1], 4096, MS);
            }
        }
        return kinds;
    }
}
