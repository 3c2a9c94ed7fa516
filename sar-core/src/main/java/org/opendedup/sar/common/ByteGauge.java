package org.opendedup.sar.common;

import java.util.concurrent.atomic.AtomicLong;

/** Counts bytes in use, and their maximum. Safe for use by many threads. */
public final class ByteGauge {
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong most = new AtomicLong();

    /** Adds {@code change} bytes; a negative value subtracts. */
    public void add(long change) {
        long now = bytes.addAndGet(change);
        if (change > 0 && now > most.get()) {
            most.accumulateAndGet(now, Math::max);
        }
    }

    public long bytes() {
        return bytes.get();
    }

    /** Returns the maximum that {@link #bytes} ever reached. */
    public long mostBytes() {
        return most.get();
    }
}
