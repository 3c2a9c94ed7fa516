package org.opendedup.sar.sdfs.jobs;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.sdfs.config.Schedule;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts a job at each time of a schedule, if none of its kind is running. A time that passes while the machine sleeps
 * or is off is not made up for.
 */
public final class ScheduleTimer implements AutoCloseable {
    /** How late a job may start. */
    public static final Duration LATE = Duration.ofMinutes(10);

    private static final Logger LOG = LoggerFactory.getLogger(ScheduleTimer.class);
    private static final int STEP_SECONDS = 5;

    private final String what;
    private final Starter starter;
    private final Schedule schedule;
    private final Clock clock;
    private final ScheduledExecutorService steps = Executors.newSingleThreadScheduledExecutor(task -> {
        var thread = new Thread(task, "sdfs-timer");
        thread.setDaemon(true);
        return thread;
    });
    /** Times up to this one are dealt with. Used by one thread at a time. */
    private ZonedDateTime seen;

    /** Starts a job. */
    @FunctionalInterface
    public interface Starter {
        /**
         * @return false if one is running already
         * @throws IOException if none may run; the message says why
         */
        boolean start() throws IOException;
    }

    /**
     * @param what the job, in the log: "the scrub"
     * @param clock gives the time zone of the schedule
     */
    public ScheduleTimer(String what, Starter starter, Schedule schedule, Clock clock) {
        this.what = what;
        this.starter = starter;
        this.schedule = schedule;
        this.clock = clock;
        seen = ZonedDateTime.now(clock);
    }

    /** Returns a timer that works until it is closed. */
    public static ScheduleTimer start(String what, Starter starter, Schedule schedule, Clock clock) {
        var timer = new ScheduleTimer(what, starter, schedule, clock);
        var unused = timer.steps.scheduleWithFixedDelay(timer::step, STEP_SECONDS, STEP_SECONDS, TimeUnit.SECONDS);
        return timer;
    }

    public Schedule schedule() {
        return schedule;
    }

    /** Returns the next time of the schedule; empty if there is none. */
    public Optional<ZonedDateTime> next() {
        return schedule.next(ZonedDateTime.now(clock));
    }

    /** Returns the next time of the schedule in ISO 8601, with its offset from UTC; empty if there is none. */
    public String nextText() {
        return next().map(time -> DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(time.truncatedTo(ChronoUnit.SECONDS)))
                .orElse("");
    }

    /** Starts a job if a time of the schedule has come since the last step. */
    public void step() {
        ZonedDateTime now = ZonedDateTime.now(clock);
        Optional<ZonedDateTime> due = schedule.next(seen).filter(time -> !time.isAfter(now));
        seen = now;
        if (due.isEmpty()) {
            return;
        }
        if (due.get().isBefore(now.minus(LATE))) {
            LOG.info("{} scheduled for {} is left out: it is {} now", what, due.get(), now);
            return;
        }
        try {
            if (!starter.start()) {
                LOG.info("{} scheduled for {} is left out: one is running already", what, due.get());
            }
        } catch (IOException | RuntimeException e) {
            // The next one may succeed; an exception would end the timer.
            LOG.warn("{} scheduled for {} is left out: {}", what, due.get(), e.toString());
        }
    }

    @Override
    public void close() {
        steps.shutdownNow();
    }
}
