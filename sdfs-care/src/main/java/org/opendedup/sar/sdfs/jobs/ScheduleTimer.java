package org.opendedup.sar.sdfs.jobs;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.sdfs.config.Schedule;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts a job at each time of a schedule, if none of its kind is running. A time that passed while the machine slept
 * or was off, or the volume was not mounted, is made up for, some minutes after the mount.
 *
 * <p>The clock may be set while the timer runs. A clock that is set back delays nothing: the times that come again are
 * times of the schedule. But a time for which a job began less than an hour ago, by a clock that nobody can set, begins
 * no other job; so a clock that is set back and forth does not start jobs without end.
 */
public final class ScheduleTimer implements StartTimes, AutoCloseable {
    /** How late a job may start, and after which time of work one begins that makes up for a missed one. */
    public static final Duration LATE = Duration.ofMinutes(10);

    private static final Logger LOG = LoggerFactory.getLogger(ScheduleTimer.class);
    private static final int STEP_SECONDS = 5;
    /** Time between two tries to make up for a missed job, in nanoseconds. */
    private static final long RETRY_NS = TimeUnit.DAYS.toNanos(1);
    /** For how long a time of the schedule that comes again starts nothing, in nanoseconds. */
    private static final long ONCE_NS = TimeUnit.HOURS.toNanos(1);

    private final String what;
    private final Starter starter;
    private final Latest latest;
    private volatile Schedule schedule;
    private final Clock clock;
    private final LongSupplier nanoClock;
    private final ScheduledExecutorService steps =
            Executors.newSingleThreadScheduledExecutor(Threads.named("sdfs-timer"));
    /** Times up to this one are dealt with. Used by one thread at a time. */
    private ZonedDateTime seen;

    /**
     * Times of the schedule that were dealt with in the last {@link #ONCE_NS}, with the time of that by
     * {@link #nanoClock}. Used by one thread at a time.
     */
    private final Map<Instant, Long> dealtWith = new HashMap<>();

    /** When the next try to make up for a missed job may begin, by {@link #nanoClock}. Used by one thread at a time. */
    private long mayMakeUpAt;

    /** When the latest job of this kind began, in any mount; empty if that is not known. */
    @FunctionalInterface
    public interface Latest {
        Optional<Instant> began() throws IOException;
    }

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
     * @param clock gives the time of day and the time zone of the schedule; it may be set
     * @param nanoClock clock in nanoseconds that nobody can set, as {@link System#nanoTime}
     */
    public ScheduleTimer(
            String what, Starter starter, Latest latest, Schedule schedule, Clock clock, LongSupplier nanoClock) {
        this.what = what;
        this.starter = starter;
        this.latest = latest;
        this.schedule = schedule;
        this.clock = clock;
        this.nanoClock = nanoClock;
        seen = ZonedDateTime.now(clock);
        mayMakeUpAt = nanoClock.getAsLong() + LATE.toNanos();
    }

    /** Returns a timer that works until it is closed. */
    public static ScheduleTimer start(String what, Starter starter, Latest latest, Schedule schedule, Clock clock) {
        var timer = new ScheduleTimer(what, starter, latest, schedule, clock, System::nanoTime);
        var unused = timer.steps.scheduleWithFixedDelay(
                Threads.lasting(timer::step), STEP_SECONDS, STEP_SECONDS, TimeUnit.SECONDS);
        return timer;
    }

    public Schedule schedule() {
        return schedule;
    }

    /** Changes the times at which jobs start. Times of the new schedule that passed before are made up for, too. */
    public void change(Schedule changed) {
        schedule = changed;
    }

    /** Returns the next time of the schedule; empty if there is none. */
    public Optional<ZonedDateTime> next() {
        return schedule.next(ZonedDateTime.now(clock));
    }

    @Override
    public String rule() {
        return schedule.toString();
    }

    @Override
    public String nextText() {
        return next().map(time -> DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(time.truncatedTo(ChronoUnit.SECONDS)))
                .orElse("");
    }

    /** Starts a job if a time of the schedule has come since the last step. */
    public void step() {
        ZonedDateTime now = ZonedDateTime.now(clock);
        Optional<ZonedDateTime> due = after(seen, now);
        seen = now;
        if (due.isPresent() && due.get().isBefore(now.minus(LATE))) {
            due = after(now.minus(LATE), now);
        }
        long nanos = nanoClock.getAsLong();
        dealtWith.values().removeIf(since -> nanos - since >= ONCE_NS);
        while (due.isPresent() && dealtWith.containsKey(due.get().toInstant())) {
            LOG.info("{} scheduled for {} is left out: the clock was set back, and it was dealt with", what, due.get());
            due = after(due.get(), now);
        }
        if (due.isPresent()) {
            dealtWith.put(due.get().toInstant(), nanos);
            start(due.get());
        } else if (nanos - mayMakeUpAt >= 0) {
            makeUp(now, nanos);
        }
    }

    private void makeUp(ZonedDateTime now, long nanos) {
        Optional<ZonedDateTime> missed = missed(now);
        if (missed.isPresent()) {
            mayMakeUpAt = nanos + RETRY_NS;
            LOG.info("{} scheduled for {} was missed, and is made up for", what, missed.get());
            start(missed.get());
        }
    }

    /** Returns the first time of the schedule since the latest job, if it is too long ago for a job to begin for it. */
    public Optional<ZonedDateTime> missed() {
        return missed(ZonedDateTime.now(clock));
    }

    private Optional<ZonedDateTime> missed(ZonedDateTime now) {
        try {
            // After a clock that was ahead for some time, the latest job is no measure.
            return latest.began()
                    .map(began -> began.atZone(now.getZone()))
                    .filter(began -> began.isBefore(now))
                    .flatMap(began -> after(began, now.minus(LATE)));
        } catch (IOException e) {
            LOG.warn("whether {} was missed is not known: {}", what, e.toString());
            return Optional.empty();
        }
    }

    private void start(ZonedDateTime due) {
        try {
            if (!starter.start()) {
                LOG.info("{} scheduled for {} is left out: one is running already", what, due);
            }
        } catch (IOException | RuntimeException e) {
            // The next one may succeed; an exception would end the timer.
            LOG.warn("{} scheduled for {} is left out: {}", what, due, e.toString());
        }
    }

    /** Returns the first time of the schedule after {@code from} that is not after {@code now}. */
    private Optional<ZonedDateTime> after(ZonedDateTime from, ZonedDateTime now) {
        return schedule.next(from).filter(time -> !time.isAfter(now));
    }

    @Override
    public void close() {
        steps.shutdownNow();
    }
}
