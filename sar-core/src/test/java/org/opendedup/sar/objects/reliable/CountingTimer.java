package org.opendedup.sar.objects.reliable;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/** A time that passes only by waiting, which takes none. */
final class CountingTimer implements Timer {
    private final AtomicLong now = new AtomicLong(1_000_000_000_000L);
    private final List<Long> pauses = new CopyOnWriteArrayList<>();

    @Override
    public long nanos() {
        return now.get();
    }

    @Override
    public void sleep(long nanos) {
        pauses.add(nanos);
        now.addAndGet(nanos);
    }

    /** Returns all waits, in nanoseconds. */
    List<Long> pauses() {
        return pauses;
    }
}
