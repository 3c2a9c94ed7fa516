package org.opendedup.sar.sdfs.collect;

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
 * Starts a collection when a disk has little room left and that helps, so that a program finds room before it has to
 * wait for it. Starts at most one in ten minutes: one may give nothing back, because chunks cannot be read.
 */
public final class LowSpaceCollections implements AutoCloseable {
    /** Shortest time between the starts of two collections. */
    static final Duration PAUSE = Duration.ofMinutes(10);

    private static final Logger LOG = LoggerFactory.getLogger(LowSpaceCollections.class);
    private static final int STEP_SECONDS = 10;

    private final GarbageCollections collections;
    private final LongSupplier nanoClock;
    private final ScheduledExecutorService steps =
            Executors.newSingleThreadScheduledExecutor(Threads.named("sdfs-low-space"));
    /** When the last collection was begun, or could not be, in nanoseconds. Used by one thread at a time. */
    private long begunNanos;

    /** @param nanoClock clock in nanoseconds that nobody can set, as {@link System#nanoTime} */
    LowSpaceCollections(GarbageCollections collections, LongSupplier nanoClock) {
        this.collections = collections;
        this.nanoClock = nanoClock;
        begunNanos = nanoClock.getAsLong() - PAUSE.toNanos();
    }

    /** Returns one that works until it is closed. */
    public static LowSpaceCollections start(GarbageCollections collections) {
        var low = new LowSpaceCollections(collections, System::nanoTime);
        var unused = low.steps.scheduleWithFixedDelay(
                Threads.lasting(low::step), STEP_SECONDS, STEP_SECONDS, TimeUnit.SECONDS);
        return low;
    }

    /** Starts a collection if a disk needs it, and the last one began long ago. */
    void step() {
        long now = nanoClock.getAsLong();
        try {
            if (now - begunNanos >= PAUSE.toNanos() && collections.startIfWorthwhile()) {
                begunNanos = now;
            }
        } catch (IOException | RuntimeException e) {
            begunNanos = now;
            // An exception would end the timer.
            LOG.warn("no garbage is collected though there is little space: {}", e.toString());
        }
    }

    @Override
    public void close() {
        steps.shutdownNow();
    }
}
