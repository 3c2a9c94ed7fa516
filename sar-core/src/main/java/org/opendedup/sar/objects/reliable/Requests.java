package org.opendedup.sar.objects.reliable;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.VersionChangedException;

/**
 * Makes requests of a store, again after a pause if it does not answer, and counts them. A pause is random between 0
 * and a bound that doubles ("full jitter": Brooker, Exponential Backoff And Jitter, AWS Architecture Blog, 2015), so
 * that callers that failed together do not come back together. Safe for use by many threads.
 */
final class Requests {
    /** Kinds of requests, as stores charge for them. */
    enum Kind {
        PUT,
        PART,
        READ,
        STATUS,
        LIST,
        DELETE,
        REPLACE
    }

    /** A request. It may be made several times. */
    @FunctionalInterface
    interface Request<T> {
        T make() throws IOException;
    }

    private static final long NANOS_PER_MILLI = 1_000_000;

    /** Beyond it, the bound of pauses does not fit. */
    private static final int MOST_DOUBLINGS = 30;

    private final String store;
    private final Limits limits;
    private final Timer timer;
    private final RandomGenerator random;
    private final Breaker breaker;
    private final RetryBudget budget;

    private final AtomicLongArray made = new AtomicLongArray(Kind.values().length);
    private final LongAdder putAnswers = new LongAdder();
    private final LongAdder putNs = new LongAdder();
    private final LongAdder readAnswers = new LongAdder();
    private final LongAdder readNs = new LongAdder();
    private final AtomicLong repeated = new AtomicLong();
    private final AtomicLong unanswered = new AtomicLong();
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong received = new AtomicLong();

    Requests(String store, Limits limits, Timer timer, RandomGenerator random) {
        this.store = store;
        this.limits = limits;
        this.timer = timer;
        this.random = random;
        this.breaker = new Breaker(store);
        this.budget = new RetryBudget(timer.nanos());
    }

    void sent(long bytes) {
        sent.addAndGet(bytes);
    }

    void received(long bytes) {
        received.addAndGet(bytes);
    }

    /**
     * Makes a request until the store answers.
     *
     * @throws UnavailableException if it does not within the patience, or the budget of repetitions is used up; at once
     *     if it did not answer those before
     */
    <T> T ask(Kind kind, Request<T> request) throws IOException {
        long began = timer.nanos();
        UnavailableException last = null;
        for (int tries = 0; ; tries++) {
            if (breaker.passes(timer.nanos())) {
                if (last != null) {
                    repeated.incrementAndGet();
                }
                try {
                    return once(kind, request);
                } catch (UnavailableException e) {
                    last = e;
                }
            } else if (last == null) {
                throw new UnavailableException(store + " did not answer the requests before this one; it is asked again"
                        + " within half a minute");
            }
            long pause = pause(tries);
            long now = timer.nanos();
            if (now - began + pause > limits.patience().toNanos()) {
                throw givenUp(last, (now - began) / 1_000_000 + " ms");
            } else if (!budget.take(now)) {
                throw givenUp(last, (tries + 1) + " tries, because too many requests are repeated");
            }
            timer.sleep(pause);
        }
    }

    private UnavailableException givenUp(UnavailableException last, String after) {
        return new UnavailableException(store + " was asked for " + after + ": " + last.getMessage(), last);
    }

    private long pause(int tries) {
        long bound = limits.firstPause().toNanos() << Math.min(tries, MOST_DOUBLINGS);
        long longest = limits.longestPause().toNanos();
        return random.nextLong(1 + (bound <= 0 ? longest : Math.min(bound, longest)));
    }

    private <T> T once(Kind kind, Request<T> request) throws IOException {
        made.incrementAndGet(kind.ordinal());
        boolean isOver = false;
        long began = timer.nanos();
        try {
            T answer = request.make();
            answered();
            took(kind, timer.nanos() - began);
            isOver = true;
            return answer;
        } catch (UnavailableException e) {
            unanswered.incrementAndGet();
            breaker.failed(timer.nanos(), String.valueOf(e.getMessage()));
            isOver = true;
            throw e;
        } catch (NoSuchFileException
                | FileAlreadyExistsException
                | VersionChangedException
                | AccessDeniedException
                | EOFException e) {
            answered();
            isOver = true;
            throw e;
        } finally {
            if (!isOver) {
                breaker.neither(timer.nanos());
            }
        }
    }

    private void took(Kind kind, long nanos) {
        if (kind == Kind.READ) {
            readAnswers.increment();
            readNs.add(nanos);
        } else if (kind == Kind.PUT || kind == Kind.PART) {
            putAnswers.increment();
            putNs.add(nanos);
        }
    }

    private static double meanMillis(LongAdder nanos, LongAdder answers) {
        return nanos.sum() / (double) NANOS_PER_MILLI / Math.max(1, answers.sum());
    }

    private void answered() {
        breaker.answered();
        budget.answered();
    }

    private long made(Kind kind) {
        return made.get(kind.ordinal());
    }

    ObjectStoreStatistics statistics() {
        return new ObjectStoreStatistics(
                made(Kind.PUT),
                made(Kind.PART),
                made(Kind.READ),
                made(Kind.STATUS),
                made(Kind.LIST),
                made(Kind.DELETE),
                made(Kind.REPLACE),
                repeated.get(),
                unanswered.get(),
                sent.get(),
                received.get(),
                meanMillis(putNs, putAnswers),
                meanMillis(readNs, readAnswers),
                breaker.state().name().toLowerCase(Locale.ROOT),
                TimeUnit.NANOSECONDS.toSeconds(breaker.openNs(timer.nanos())),
                breaker.timesOpened());
    }
}
