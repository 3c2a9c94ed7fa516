package org.opendedup.sar.sdfs.jmx;

import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A sample that serves all who ask within a short time: consoles ask for one attribute after the other. Throws
 * {@link java.io.UncheckedIOException} if the sample cannot be taken. Safe for use by many threads.
 */
public final class Recent<T> implements Supplier<T> {
    private final long maxAgeNanos;
    private final Beans.Call<T> sample;

    /** Guarded by this. */
    private @Nullable T latest;

    /** Guarded by this. */
    private long takenNanos;

    /** @param maxAge age up to which a sample is used */
    public Recent(Duration maxAge, Beans.Call<T> sample) {
        maxAgeNanos = maxAge.toNanos();
        this.sample = sample;
    }

    @Override
    public synchronized T get() {
        T recent = latest;
        return recent == null || System.nanoTime() - takenNanos > maxAgeNanos ? now() : recent;
    }

    /** Takes a sample, which also serves those who ask after this. */
    public synchronized T now() {
        T taken = Beans.call(sample);
        latest = taken;
        takenNanos = System.nanoTime();
        return taken;
    }
}
