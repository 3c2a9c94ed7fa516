package org.opendedup.sar.sdfs.jobs;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.Threads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts a job when an interval has passed since the last complete one, also if that was in an earlier mount. Looks
 * every ten minutes, the first time ten minutes after the mount. One that fails is tried again after a day. A clock
 * that is set starts a job too early or too late, once; a time in the future counts for nothing.
 */
public final class IntervalTimer implements StartTimes, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(IntervalTimer.class);
    private static final int STEP_MINUTES = 10;
    /** How long after a start no other one is tried: a job that fails at once would begin again at each look. */
    private static final Duration PAUSE = Duration.ofDays(1);

    private final String what;
    private final ScheduleTimer.Starter starter;
    private final Last last;
    private final Duration interval;
    private final Clock clock;
    /** No job starts before. Used by one thread at a time. */
    private Instant notBefore = Instant.MIN;

    private final ScheduledExecutorService steps =
            Executors.newSingleThreadScheduledExecutor(Threads.named("sdfs-timer"));

    /** Tells when the last job was complete. */
    @FunctionalInterface
    public interface Last {
        /** Returns that time; when the volume was made, if there was none. */
        Instant complete() throws IOException;
    }

    /** @param what the job, in the log: "the scrub" */
    IntervalTimer(String what, ScheduleTimer.Starter starter, Last last, Duration interval, Clock clock) {
        this.what = what;
        this.starter = starter;
        this.last = last;
        this.interval = interval;
        this.clock = clock;
    }

    /**
     * Returns a timer that works until it is closed.
     *
     * @param interval time from the end of a job to the next one; zero: it starts none
     */
    public static IntervalTimer start(
            String what, ScheduleTimer.Starter starter, Last last, Duration interval, Clock clock) {
        var timer = new IntervalTimer(what, starter, last, interval, clock);
        if (!interval.isZero()) {
            var unused = timer.steps.scheduleWithFixedDelay(
                    Threads.lasting(timer::step), STEP_MINUTES, STEP_MINUTES, TimeUnit.MINUTES);
        }
        return timer;
    }

    /** Starts a job if one is due. Never fails. */
    void step() {
        try {
            Instant now = clock.instant();
            // Times that the clock cannot have shown yet are of before it was set back.
            boolean isPause = now.isBefore(notBefore) && !notBefore.isAfter(now.plus(PAUSE));
            if (!now.isBefore(due()) && !isPause && starter.start()) {
                notBefore = now.plus(PAUSE);
            }
        } catch (IOException | RuntimeException e) {
            // The next try may succeed; an exception would end the timer.
            LOG.warn("{} does not start by itself: {}", what, e.toString());
        }
    }

    private Instant due() throws IOException {
        Instant complete = last.complete();
        return complete.isAfter(clock.instant()) ? clock.instant() : complete.plus(interval);
    }

    @Override
    public String rule() {
        return interval.isZero() ? NEVER.rule() : "every " + interval.toDays() + " days";
    }

    @Override
    public String nextText() {
        if (interval.isZero()) {
            return NEVER.nextText();
        }
        try {
            return due().truncatedTo(ChronoUnit.SECONDS).toString();
        } catch (IOException e) {
            LOG.debug("when {} starts next is not known", what, e);
            return "";
        }
    }

    @Override
    public void close() {
        steps.shutdownNow();
    }
}
