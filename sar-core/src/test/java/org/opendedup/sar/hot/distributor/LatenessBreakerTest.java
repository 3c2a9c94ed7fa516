package org.opendedup.sar.hot.distributor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.hot.copies.SsdHealth;

class LatenessBreakerTest {
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
    private final List<String> told = new ArrayList<>();
    private final LatenessBreaker breaker = new LatenessBreaker(nanos::get, new SsdHealth() {
        @Override
        public void onSuspended(Duration pause) {
            told.add("suspended " + pause.toSeconds());
        }

        @Override
        public void onResumed() {
            told.add("resumed");
        }
    });

    private void late(int times) {
        for (int i = 0; i < times; i++) {
            breaker.late(nanos.get());
        }
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    @Test
    void aFewLateAnswersAreForgivenByOneInTime() {
        for (int i = 0; i < 10; i++) {
            late(LatenessBreaker.MOST_LATE_IN_A_ROW - 1);
            breaker.inTime(nanos.get());
        }
        assertTrue(breaker.allows());
        assertEquals(List.of(), told);
    }

    @Test
    void manyInARowSuspendForAGrowingTime() {
        late(LatenessBreaker.MOST_LATE_IN_A_ROW);
        assertFalse(breaker.allows());
        pass(LatenessBreaker.FIRST_PAUSE);
        assertTrue(breaker.allows(), "it is tried again");
        late(1);
        assertFalse(breaker.allows());
        pass(LatenessBreaker.FIRST_PAUSE);
        assertFalse(breaker.allows());
        pass(LatenessBreaker.FIRST_PAUSE);
        assertTrue(breaker.allows());
        assertEquals(List.of("suspended 1", "suspended 2"), told);
    }

    @Test
    void whatIsLateDuringAPauseIsOfBeforeIt() {
        late(LatenessBreaker.MOST_LATE_IN_A_ROW + 20);
        breaker.inTime(nanos.get());
        assertFalse(breaker.allows());
        assertEquals(List.of("suspended 1"), told);
    }

    @Test
    void thePauseHasABound() {
        late(LatenessBreaker.MOST_LATE_IN_A_ROW);
        for (int i = 0; i < 20; i++) {
            pass(LatenessBreaker.LONGEST_PAUSE);
            late(1);
        }
        pass(LatenessBreaker.LONGEST_PAUSE);
        assertTrue(breaker.allows());
    }

    @Test
    void oneAnswerInTimeAfterThePauseEndsIt() {
        late(LatenessBreaker.MOST_LATE_IN_A_ROW);
        pass(LatenessBreaker.FIRST_PAUSE);
        breaker.inTime(nanos.get());
        assertFalse(breaker.isSuspended());
        assertEquals(List.of("suspended 1", "resumed"), told);
        late(LatenessBreaker.MOST_LATE_IN_A_ROW - 1);
        assertTrue(breaker.allows(), "it starts afresh");
    }

    @Test
    void requestsThatWaitAtTheSameTimeAreOneLateAnswer() {
        long asked = nanos.get();
        pass(Duration.ofSeconds(1));
        for (int i = 0; i < 50; i++) {
            breaker.late(asked);
        }
        assertTrue(breaker.allows(), "one hiccup");
        late(LatenessBreaker.MOST_LATE_IN_A_ROW - 2);
        assertTrue(breaker.allows());
        late(1);
        assertFalse(breaker.allows());
    }

    @Test
    void whatWasAskedBeforeThePauseIsNoTrial() {
        long asked = nanos.get();
        late(LatenessBreaker.MOST_LATE_IN_A_ROW);
        pass(LatenessBreaker.FIRST_PAUSE);
        breaker.late(asked);
        assertTrue(breaker.allows());
        breaker.inTime(asked);
        assertTrue(breaker.isSuspended());
        assertEquals(List.of("suspended 1"), told);
    }
}
