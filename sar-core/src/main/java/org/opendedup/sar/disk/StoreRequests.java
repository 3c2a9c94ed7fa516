package org.opendedup.sar.disk;

import java.util.function.LongSupplier;
import org.opendedup.sar.io.RequestCost;

/**
 * Learns what requests to an object store cost, from those that are made anyway: latency and rate of a lane as
 * {@link DiskEstimator} does, and by {@link ConcurrencyTuner} how many lanes make it fastest, while as many requests
 * run as may and others wait. Memory and time are bounded as theirs. Safe for use by many threads.
 */
public final class StoreRequests {
    /** Lanes of a store of which nothing is known: they hide 3 ms to 100 ms of latency. */
    public static final int LANES = 8;

    /** Fewer gain nothing: a request that waits costs no more than one that is not made. */
    private static final int LEAST_LANES = 4;

    /** More would need more memory than what is read ahead has. */
    private static final int MOST_LANES = 32;

    private final LongSupplier nanoClock;
    private final ConcurrencyTuner tuner;

    private final DiskEstimator estimator = new DiskEstimator(DiskModel.STORE);
    private RequestCost cost = costOf(DiskModel.STORE, DiskModel.STORE.bytesPerSecond() / LANES, LANES);
    private int running;
    private long countedNanos;

    /**
     * @param most bound of the lanes, by the memory for what they read; at least {@value #LANES} are used
     * @param nanoClock current time in nanoseconds
     */
    public StoreRequests(int most, LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        tuner = new ConcurrencyTuner(LANES, false, LEAST_LANES, Math.max(LANES, Math.min(MOST_LANES, most)));
        countedNanos = nanoClock.getAsLong();
    }

    private static RequestCost costOf(DiskModel model, long laneBytesPerSecond, int lanes) {
        return new RequestCost(
                model.seekNanos(), laneBytesPerSecond, lanes, model.source() == DiskModel.Source.MEASURED);
    }

    /** Returns what is known now. */
    public synchronized RequestCost cost() {
        return cost;
    }

    /** Notes that a request begins in a lane. */
    public synchronized void begin() {
        countTime();
        running++;
    }

    /**
     * Notes that a request in a lane has ended with an answer.
     *
     * @param nanos time of the request, in nanoseconds
     * @param waiting requests that wait for a lane
     */
    public synchronized void end(int bytes, long nanos, int waiting) {
        countTime();
        if (running >= cost.lanes()) {
            tuner.addRequest(bytes, true, running + waiting);
        }
        running--;
        add(bytes, nanos);
    }

    /** Notes that a request in a lane has ended without an answer, of which nothing can be learned. */
    public synchronized void giveUp() {
        countTime();
        running--;
    }

    /** Notes a request that a reader made itself, beside the lanes. */
    public synchronized void add(int bytes, long nanos) {
        estimator.add(DiskEstimator.Kind.SEEKS, bytes, nanos);
        DiskModel model = estimator.model();
        boolean isMeasured = model.source() == DiskModel.Source.MEASURED;
        cost = costOf(model, isMeasured ? model.bytesPerSecond() : cost.laneBytesPerSecond(), tuner.requests());
    }

    private void countTime() {
        long now = nanoClock.getAsLong();
        if (running >= cost.lanes()) {
            tuner.addTime(now - countedNanos);
        }
        countedNanos = now;
    }
}
