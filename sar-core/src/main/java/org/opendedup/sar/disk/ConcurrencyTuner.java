package org.opendedup.sar.disk;

/**
 * Finds the number of concurrent requests at which a device is fastest, by hill climbing over powers of two. For a
 * while it tries twice the current number, or half of it, between two measurements with the current number. More
 * requests must be faster by {@value #MIN_GAIN}; fewer must be about as fast. So neither random variation of a device
 * nor the layout of a file changes the number. A trial that failed is repeated after ever longer pauses. For one
 * thread.
 */
final class ConcurrencyTuner {
    /** Most concurrent requests of a disk: more do not make it faster. */
    static final int MAX_REQUESTS = 8;

    private static final double MIN_GAIN = 1.15;
    private static final double MAX_LOSS = 0.95;
    /** Least time of a measurement, in nanoseconds: a few hundred requests of an SSD, some tens of a hard disk. */
    private static final long SLICE_NANOS = 500_000_000;

    private static final int SLICE_REQUESTS = 32;
    /** Slices between a failed trial and the next one: 4 s at first, about 4 min at most. */
    private static final int MIN_PAUSE = 8;
    /**
     * Slices ahead of the first trial, on a device with an arm: there a trial nearly always loses time, and an array of
     * disks can wait half a minute.
     */
    private static final int ARM_PAUSE = 64;

    private static final int MAX_PAUSE = 512;

    /** Purpose of a slice, which is one measurement. */
    private enum Phase {
        BEFORE,
        TRIAL,
        AFTER
    }

    private final boolean seeks;
    private final int least;
    private final int most;
    private int settled;
    private int candidate;
    private Phase phase = Phase.BEFORE;
    private double before;
    private double tried;
    private boolean upward = true;
    private int pause;
    private int nextPause = MIN_PAUSE;

    private long nanos;
    private long bytes;
    private int requests;
    private int cached;

    /**
     * @param start number of concurrent requests at the beginning
     * @param seeks whether the device is assumed to have an arm
     */
    ConcurrencyTuner(int start, boolean seeks) {
        this(start, seeks, 1, MAX_REQUESTS);
    }

    /**
     * @param least bound of the number
     * @param most bound of the number
     */
    ConcurrencyTuner(int start, boolean seeks, int least, int most) {
        this.seeks = seeks;
        this.least = least;
        this.most = most;
        settled = start;
        candidate = start;
        pause = seeks ? ARM_PAUSE : 0;
    }

    /** Number of concurrent requests allowed now. */
    int requests() {
        return phase == Phase.TRIAL ? candidate : settled;
    }

    /** Adds time, in nanoseconds, in which as many readers were at the device as {@link #requests} returns. */
    void addTime(long passedNanos) {
        nanos += passedNanos;
    }

    /**
     * Notes that a request has ended, within the time that was added.
     *
     * @param fromDevice whether its bytes were read from the device, not from the kernel's cache
     * @param readers number of readers that are at the device or wait for it
     */
    void addRequest(int requestBytes, boolean fromDevice, int readers) {
        bytes += requestBytes;
        requests++;
        cached += fromDevice ? 0 : 1;
        if (nanos < SLICE_NANOS || requests < SLICE_REQUESTS) {
            return;
        }
        // Bytes from the kernel's cache say nothing about the device.
        if (cached <= requests / 8) {
            endSlice((double) bytes / nanos, readers);
        }
        nanos = 0;
        bytes = 0;
        requests = 0;
        cached = 0;
    }

    private void endSlice(double rate, int readers) {
        switch (phase) {
            case BEFORE -> {
                before = rate;
                if (pause > 0) {
                    pause--;
                } else {
                    begin(readers);
                }
            }
            case TRIAL -> {
                tried = rate;
                phase = Phase.AFTER;
            }
            case AFTER -> {
                phase = Phase.BEFORE;
                judge(Math.max(before, rate));
            }
        }
    }

    private void begin(int readers) {
        // A sequential reader has one batch at the device and one waiting. On a disk, these two gain nothing side by
        // side.
        boolean canRise = 2 * settled <= most && 2 * settled + (seeks ? 1 : 0) <= readers;
        boolean canFall = settled > least;
        if (canRise || canFall) {
            candidate = canRise && (upward || !canFall) ? 2 * settled : settled / 2;
            phase = Phase.TRIAL;
        }
    }

    private void judge(double rate) {
        if (tried > rate * (candidate > settled ? MIN_GAIN : MAX_LOSS)) {
            upward = candidate > settled;
            settled = candidate;
            nextPause = MIN_PAUSE;
        } else {
            upward = candidate < settled;
            pause = nextPause;
            nextPause = Math.min(MAX_PAUSE, 2 * nextPause);
        }
    }
}
