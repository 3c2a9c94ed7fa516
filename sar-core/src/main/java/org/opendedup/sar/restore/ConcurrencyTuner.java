package org.opendedup.sar.restore;

/**
 * Finds how many requests at once a device is fastest with, by hill climbing over powers of two: twice as many, or half, are tried for
 * a while, between two times with the number that holds. More must be faster by {@value #MIN_GAIN}, fewer must do about
 * as well; so what a device gives by chance, or a file by its layout, changes nothing. A trial that failed is repeated after ever longer
 * times. For one thread.
 */
final class ConcurrencyTuner {
    /** More readers than that at once get no more out of the devices this is made for. */
    static final int MAX_REQUESTS = 8;

    private static final double MIN_GAIN = 1.15;
    private static final double MAX_LOSS = 0.95;
    /** What is measured at a time: a few hundred requests of an SSD, some tens of a hard disk. */
    private static final long SLICE_NANOS = 500_000_000;

    private static final int SLICE_REQUESTS = 32;
    /** Slices between a failed trial and the next one: 4 s at first, some 4 min at last. */
    private static final int MIN_PAUSE = 8;
    /** Before the first one where an arm seeks: there it is lost time nearly always, and an array of disks can wait half a minute. */
    private static final int ARM_PAUSE = 64;

    private static final int MAX_PAUSE = 512;

    /** What a slice is for. */
    private enum Phase {
        BEFORE,
        TRIAL,
        AFTER
    }

    private final boolean seeks;
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
     * @param start how many requests at once it begins with
     * @param seeks whether the device is thought to have an arm
     */
    ConcurrencyTuner(int start, boolean seeks) {
        this.seeks = seeks;
        settled = start;
        candidate = start;
        pause = seeks ? ARM_PAUSE : 0;
    }

    /** How many requests there may be at once now. */
    int requests() {
        return phase == Phase.TRIAL ? candidate : settled;
    }

    /** For so long there were as many readers at the device as {@link #requests} says. */
    void addTime(long passedNanos) {
        nanos += passedNanos;
    }

    /**
     * A request ended in that time.
     *
     * @param fromDevice whether its bytes came from there, and not from the kernel's cache
     * @param readers that are at the device or wait for it
     */
    void addRequest(int requestBytes, boolean fromDevice, int readers) {
        bytes += requestBytes;
        requests++;
        cached += fromDevice ? 0 : 1;
        if (nanos < SLICE_NANOS || requests < SLICE_REQUESTS) {
            return;
        }
        // What the cache gives says nothing of the device.
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
        // A reader in sequence has a step at the device and one behind it; on a disk these two gain nothing side by
        // side.
        boolean canRise = 2 * settled <= MAX_REQUESTS && 2 * settled + (seeks ? 1 : 0) <= readers;
        boolean canFall = settled > 1;
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
