package org.opendedup.sar.common;

import java.util.concurrent.atomic.AtomicLong;

/** Bytes that something takes now, and the most it ever took. Safe for use by many threads. */
public final class ByteGauge {
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong most = new AtomicLong();

    /** So many bytes more; fewer, if negative. */
    public void add(long change) {
        long now = bytes.addAndGet(change);
        if (change > 0 && now > most.get()) {
            most.accumulateAndGet(now, Math::max);
        }
    }

    public long bytes() {
        return bytes.get();
    }

    /** The most that {@link #bytes} ever was. */
    public long mostBytes() {
        return most.get();
    }
}
