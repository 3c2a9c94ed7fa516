package org.opendedup.sar.volume.node;

import java.util.concurrent.TimeUnit;

/**
 * Decides how long bytes of a file that cannot be stored, because a disk cannot be read, are kept for another attempt.
 * They are kept for some attempts and some time, so that neither a burst of errors nor a few late ones lose them. They
 * are not kept for ever, because they occupy memory that writers of all files wait for. Guarded by the file's storing
 * lock, except {@link #haveFailed}.
 */
public final class StoreAttempts {
    /** Minimum number of attempts in a row at one place before bytes are given up. */
    static final int MIN_ATTEMPTS = 4;
    /** Minimum time from the first of these attempts to the last one. */
    static final long MIN_NS = TimeUnit.SECONDS.toNanos(30);

    /** Time after which an attempt does not continue a row: the bytes were dropped meanwhile, for example truncated. */
    private static final long ROW_NS = 2 * MIN_NS;

    private long at;
    private volatile int count;
    private long firstNs;
    private long lastNs;

    /**
     * Records an attempt that failed.
     *
     * @param offset offset of the first byte that could not be stored
     * @param nowNs the time by {@link System#nanoTime}
     * @return whether the bytes are to be given up
     */
    public boolean failed(long offset, long nowNs) {
        int before = offset == at && nowNs - lastNs <= ROW_NS ? count : 0;
        lastNs = nowNs;
        if (before == 0) {
            at = offset;
            firstNs = nowNs;
        }
        boolean last = before + 1 >= MIN_ATTEMPTS && nowNs - firstNs >= MIN_NS;
        count = last ? 0 : before + 1;
        return last;
    }

    /**
     * Records that bytes {@code from} to {@code to} (exclusive) of the file were stored. Other bytes than those that
     * could not be stored make no difference.
     */
    public void succeeded(long from, long to) {
        if (from <= at && at < to) {
            count = 0;
        }
    }

    /** Returns whether the last attempt to store certain bytes failed. */
    public boolean haveFailed() {
        return count > 0;
    }
}
