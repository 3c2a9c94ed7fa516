package org.opendedup.sar.volume.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CommitTurnsTest {
    private static final int THREADS = 8;
    private static final int ROUNDS = 200;

    private final CommitTurns turns = new CommitTurns();
    private final AtomicInteger changes = new AtomicInteger();
    private final AtomicInteger durable = new AtomicInteger();
    private final AtomicInteger commits = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();

    @Test
    void oneCommitServesAllThatWaitForTheOneBefore() throws Exception {
        changeWhileACommitRuns(upTo -> upTo);
        assertEquals(1, commits.get());
        assertEquals(0, lost.get());
    }

    @Test
    void aFailedCommitAnswersNobody() throws Exception {
        changeWhileACommitRuns(upTo -> 0);
        assertEquals(THREADS, commits.get());
    }

    @Test
    void controlACommitThatAnswersWhatWasAskedMeanwhileIsNoticed() throws Exception {
        changeWhileACommitRuns(upTo -> upTo + THREADS);
        assertEquals(THREADS, lost.get());
    }

    @Test
    void whatIsAskedWhileACommitRunsNeedsAnother() throws Exception {
        List<Thread> all = start(ROUNDS, upTo -> upTo);
        for (Thread thread : all) {
            thread.join();
        }
        assertEquals(THREADS * ROUNDS, changes.get());
        assertEquals(0, lost.get(), "changes that are not in the commit that answered them");
    }

    /**
     * Each thread makes a change while a commit runs.
     *
     * @param answered up to which ticket a commit answers, of the one that it should answer
     */
    private void changeWhileACommitRuns(LongUnaryOperator answered) throws InterruptedException {
        long first = turns.begin();
        List<Thread> all = start(1, answered);
        for (Thread thread : all) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        }
        turns.end(answered.applyAsLong(first));
        for (Thread thread : all) {
            thread.join();
        }
    }

    private List<Thread> start(int rounds, LongUnaryOperator answered) {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> {
                for (int round = 0; round < rounds; round++) {
                    change(answered);
                }
            });
            thread.start();
            all.add(thread);
        }
        return all;
    }

    /** Makes a change, and makes it durable or waits until it is. */
    private void change(LongUnaryOperator answered) {
        int mine = changes.incrementAndGet();
        long upTo = turns.begin();
        if (upTo > 0) {
            commits.incrementAndGet();
            durable.set(changes.get());
            turns.end(answered.applyAsLong(upTo));
        }
        lost.addAndGet(durable.get() < mine ? 1 : 0);
    }
}
