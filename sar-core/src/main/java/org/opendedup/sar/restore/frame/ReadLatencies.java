package org.opendedup.sar.restore.frame;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import org.opendedup.sar.common.LatencyBuckets;

/**
 * How long the reads of programs take, by the slowest place that each of them waited for. The thread that serves a read
 * calls {@link #begin} and {@link #end}; what makes it wait calls {@link #waits} in between. Safe for use by many
 * threads.
 */
public final class ReadLatencies {
    /** Where a read gets its bytes from; a later one is slower. */
    public enum From {
        /** All bytes were in memory, or are zeros. */
        MEMORY,
        /** The file lies whole on the fast tier. */
        FAST_TIER,
        /** Copies on the SSD. */
        SSD,
        /** Chunks that were being read ahead, from the SSD or the disk, and had not yet arrived. */
        AHEAD,
        /** Containers on the disk. */
        DISK
    }

    private final Map<From, LatencyBuckets> latencies = new EnumMap<>(From.class);
    /** The slowest place of the thread's current read. An array, so that a read allocates nothing. */
    private final ThreadLocal<From[]> slowest = ThreadLocal.withInitial(() -> new From[] {From.MEMORY});

    public ReadLatencies() {
        for (From from : From.values()) {
            latencies.put(from, new LatencyBuckets());
        }
    }

    /** Begins a read of this thread; returns the time, to be passed to {@link #end}. */
    public long begin() {
        slowest.get()[0] = From.MEMORY;
        return System.nanoTime();
    }

    /** Notes that the current read of this thread, if it serves one, waits for this place. */
    public void waits(From from) {
        From[] place = slowest.get();
        if (from.compareTo(place[0]) > 0) {
            place[0] = from;
        }
    }

    /** @param beganNanos what {@link #begin} returned */
    public void end(long beganNanos) {
        bucketsOf(slowest.get()[0]).record(System.nanoTime() - beganNanos);
    }

    private LatencyBuckets bucketsOf(From from) {
        LatencyBuckets buckets = latencies.get(from);
        if (buckets == null) {
            throw new IllegalStateException("no buckets for " + from);
        }
        return buckets;
    }

    /** Returns what was counted since the volume was opened. */
    public Map<From, LatencyBuckets.Counts> counts() {
        Map<From, LatencyBuckets.Counts> counts = new EnumMap<>(From.class);
        latencies.forEach((from, buckets) -> counts.put(from, buckets.counts()));
        return Collections.unmodifiableMap(counts);
    }
}
