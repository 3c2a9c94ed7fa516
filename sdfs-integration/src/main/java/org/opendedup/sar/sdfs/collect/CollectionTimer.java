package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.sdfs.config.CollectionSchedule;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts a collection at each time of a schedule, if none is running. A time that passes while the machine sleeps or is
 * off is not made up for.
 */
public final class CollectionTimer implements AutoCloseable {
    /** How late a collection may start. */
    static final Duration LATE = Duration.ofMinutes(10);

    private static final Logger LOG = LoggerFactory.getLogger(CollectionTimer.class);
    private static final int STEP_SECONDS = 5;

    private final GarbageCollections collections;
    private final CollectionSchedule schedule;
    private final Clock clock;
    private final ScheduledExecutorService steps = Executors.newSingleThreadScheduledExecutor(task -> {
        var thread = new Thread(task, "sdfs-gc-timer");
        thread.setDaemon(true);
        return thread;
    });
    /** Times up to this one are dealt with. Used by one thread at a time. */
    private ZonedDateTime seen;

    /** @param clock gives the time zone of the schedule */
    CollectionTimer(GarbageCollections collections, CollectionSchedule schedule, Clock clock) {
        this.collections = collections;
        this.schedule = schedule;
        this.clock = clock;
        seen = ZonedDateTime.now(clock);
    }

    /** Returns a timer that works until it is closed. */
    public static CollectionTimer start(GarbageCollections collections, CollectionSchedule schedule, Clock clock) {
        var timer = new CollectionTimer(collections, schedule, clock);
        var unused = timer.steps.scheduleWithFixedDelay(timer::step, STEP_SECONDS, STEP_SECONDS, TimeUnit.SECONDS);
        return timer;
    }

    public CollectionSchedule schedule() {
        return schedule;
    }

    /** Returns the next time of the schedule; empty if there is none. */
    public Optional<ZonedDateTime> next() {
        return schedule.next(ZonedDateTime.now(clock));
    }

    /** Starts a collection if a time of the schedule has come since the last step. */
    void step() {
        ZonedDateTime now = ZonedDateTime.now(clock);
        Optional<ZonedDateTime> due = schedule.next(seen).filter(time -> !time.isAfter(now));
        seen = now;
        if (due.isEmpty()) {
            return;
        }
        if (due.get().isBefore(now.minus(LATE))) {
            LOG.info("the collection of garbage scheduled for {} is left out: it is {} now", due.get(), now);
            return;
        }
        try {
            if (collections.start(Cause.SCHEDULE).isEmpty()) {
                LOG.info("the collection of garbage scheduled for {} is left out: one is running already", due.get());
            }
        } catch (IOException | RuntimeException e) {
            // The next one may succeed; an exception would end the timer.
            LOG.warn("the collection of garbage scheduled for {} is left out: {}", due.get(), e.toString());
        }
    }

    @Override
    public void close() {
        steps.shutdownNow();
    }
}
