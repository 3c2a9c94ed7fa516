package org.opendedup.sar.sdfs.join;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.opendedup.sar.common.Threads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts exact passes while no program uses the volume, if they are worth it: at most one an hour, so that one that
 * fails, or is stopped, is not begun again and again.
 */
public final class IdleJoins implements AutoCloseable {
    /** Time without use after which a volume is idle. */
    static final Duration IDLE = Duration.ofMinutes(1);
    /** Shortest time between the starts of two passes. */
    static final Duration PAUSE = Duration.ofHours(1);

    private static final Duration NEVER = Duration.ofDays(365_000);
    private static final Logger LOG = LoggerFactory.getLogger(IdleJoins.class);
    private static final int STEP_SECONDS = 5;

    private final Joins joins;
    private final LongSupplier nanoClock;
    private final ScheduledExecutorService steps =
            Executors.newSingleThreadScheduledExecutor(Threads.named("sdfs-idle-joins"));
    /** When the last pass was begun, or could not be, in nanoseconds. Used by one thread at a time. */
    private long begunNanos;

    /** @param nanoClock clock in nanoseconds that nobody can set, as {@link System#nanoTime} */
    IdleJoins(Joins joins, LongSupplier nanoClock) {
        this.joins = joins;
        this.nanoClock = nanoClock;
        begunNanos = nanoClock.getAsLong() - PAUSE.toNanos();
    }

    /** Returns one that works until it is closed. */
    public static IdleJoins start(Joins joins) {
        var idle = new IdleJoins(joins, System::nanoTime);
        var unused = idle.steps.scheduleWithFixedDelay(
                Threads.lasting(idle::step), STEP_SECONDS, STEP_SECONDS, TimeUnit.SECONDS);
        return idle;
    }

    /** Starts a pass if the volume is idle, the pass is worth it, and the last one began long ago. */
    void step() {
        long now = nanoClock.getAsLong();
        boolean mayBegin = now - begunNanos >= PAUSE.toNanos();
        try {
            if (joins.startIfIdle(mayBegin ? IDLE : NEVER)) {
                begunNanos = now;
            }
        } catch (IOException | RuntimeException e) {
            begunNanos = now;
            // An exception would end the timer.
            LOG.warn("no exact pass is started though nobody uses the volume: {}", e.toString());
        }
    }

    @Override
    public void close() {
        steps.shutdownNow();
    }
}
