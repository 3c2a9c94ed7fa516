package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.io.Libc;

@Timeout(60)
class CrewTest {
    private static final int SIZE = 3;
    private static final long END_MS = 30_000;

    private final Crew crew = new Crew(SIZE, new ProcessorLatency(new Libc(), null));
    private final List<Thread> threads = new ArrayList<>();
    /** A permit for each member that came to wait for requests. */
    private final Semaphore waiting = new Semaphore(0);
    /** Counted down when the requests may begin for which a member has to wait. */
    private final CountDownLatch requestsCome = new CountDownLatch(1);

    @AfterEach
    void allEndWhenOneSaysSo() throws InterruptedException {
        crew.members().get(0).allEnd();
        for (Thread thread : threads) {
            thread.join(END_MS);
            assertFalse(thread.isAlive(), thread::toString);
        }
    }

    @Test
    void oneWaitsAndTheOthersRest() throws InterruptedException {
        joinFirst();
        assertEquals(1, crew.onDuty());
        othersJoin();
        assertEquals(1, crew.onDuty());
    }

    @Test
    void anotherIsCalledBeforeALongService() throws InterruptedException {
        joinFirst();
        othersJoin();
        first().received();
        first().willTakeLong();
        waiting.acquire();
        assertEquals(2, crew.onDuty());
    }

    @Test
    void nobodyIsCalledBeforeALongServiceWhereOneWaits() throws InterruptedException {
        joinFirst();
        othersJoin();
        first().received();
        first().willTakeLong();
        waiting.acquire();
        first().willTakeLong();
        assertEquals(2, crew.onDuty());
    }

    @Test
    void theGuardCallsAnotherForOneThatDoesNotComeBack() throws InterruptedException {
        joinFirst();
        othersJoin();
        crew.startGuard();
        first().received();
        waiting.acquire();
        assertEquals(2, crew.onDuty());
    }

    @Test
    void oneThatHadToWaitAgainAndAgainRestsWhereAnotherWaits() {
        callAnIdler();
        first().awaitTurn(0);
        requestsCome.countDown();
        while (crew.onDuty() > 1) {
            sleepShortly();
        }
        assertFalse(waiting.tryAcquire());
    }

    @Test
    void oneThatHadToWaitAgainAndAgainDoesNotRestWhereTheOtherServes() {
        callAnIdler();
        requestsCome.countDown();
        while (!waiting.tryAcquire()) {
            assertEquals(2, crew.onDuty());
            sleepShortly();
        }
    }

    /** As of a program that syncs again and again. */
    @Test
    void twoStayWhileRequestsThatTakeLongFollowEachOther() throws InterruptedException {
        joinFirst();
        othersJoin();
        first().received();
        first().willTakeLong();
        waiting.acquire();
        for (int sync = 0; sync < 20; sync++) {
            first().awaitTurn(0);
            sleepShortly();
            first().received();
            first().willTakeLong();
            assertEquals(2, crew.onDuty());
        }
        assertFalse(waiting.tryAcquire(), "a third was called");
    }

    /**
     * While the first member serves a request, another member has to wait for each of 40 requests. These begin when
     * {@link #requestsCome} says so.
     */
    private void callAnIdler() {
        joinFirst();
        Crew.Member second = crew.members().get(1);
        Thread idler = start(() -> {
            second.awaitTurn(0);
            awaitRequests();
            for (int request = 0; request < 40; request++) {
                sleepShortly();
                second.received();
                second.awaitTurn(0);
            }
            waiting.release();
        });
        while (idler.getState() != Thread.State.WAITING) {
            sleepShortly();
        }
        first().received();
        first().willTakeLong();
    }

    @Test
    void theLastThatLeavesCallsAnother() throws InterruptedException {
        joinFirst();
        othersJoin();
        first().leave();
        waiting.acquire();
        assertEquals(1, crew.onDuty());
    }

    private Crew.Member first() {
        return crew.members().get(0);
    }

    private void joinFirst() {
        first().awaitTurn(0);
    }

    /** The others come, and stay with the request they are called for. */
    private void othersJoin() {
        for (Crew.Member member : crew.members().subList(1, SIZE)) {
            Thread thread = start(() -> {
                member.awaitTurn(0);
                waiting.release();
            });
            while (thread.getState() != Thread.State.WAITING) {
                sleepShortly();
            }
        }
    }

    private Thread start(Runnable work) {
        Thread thread = new Thread(work);
        threads.add(thread);
        thread.start();
        return thread;
    }

    private void awaitRequests() {
        try {
            requestsCome.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void sleepShortly() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
