package org.opendedup.sar.sim.tddfs.tier;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The time. Requests come one after another, each as soon as the one before is done (TDDFS paper, section 5.1). One
 * background thread does the migrations in their order, in units of 1 MiB; each unit reads, deduplicates and writes one
 * after another. A device serves one step at a time, in the order of arrival: a request waits for the step of the
 * background thread that is being served, and the background thread for requests. The arm of the disk moves back after
 * a request has used it.
 *
 * <p>A request that starts migrations waits until at most {@code mostPendingUnits} units of earlier requests are left,
 * because the space that a migration frees is needed. So requests cannot run ahead of the migrations without a bound.
 * For one thread.
 */
public final class TierClock {
    private static final long UNIT_BYTES = 1 << 20;
    /** Steps of a unit: read slow, read fast, deduplicate, write fast, write slow. */
    private static final int STEPS = 5;

    private final TierCosts costs;
    private final int grain;
    private final long mostPendingUnits;
    private final boolean isOffPeak;
    private final ArrayDeque<Job> queue = new ArrayDeque<>();

    private boolean isRunning;
    private long nowNanos;
    private long fastFreeNanos;
    private long slowFreeNanos;
    private long backgroundNanos;
    private long pendingUnits;
    private int step;
    private boolean armMoved;
    private boolean hasWaited;

    /** Migrations that were started. Its parts are done in the order of the file. */
    public static final class Job {
        private final Work work;
        private final long units;
        private long done;

        private Job(Work work) {
            this.work = work;
            units = Math.max(1, (work.mostBytes() + UNIT_BYTES - 1) / UNIT_BYTES);
        }

        /** Returns the share that is done, from 0 to 1. */
        public double doneShare() {
            return (double) done / units;
        }
    }

    /**
     * @param grain chunks of the paper that one chunk of the model stands for
     * @param mostPendingUnits units of 1 MiB of background work that a request may leave to the next ones
     * @param isOffPeak whether migrations take no time
     */
    public TierClock(TierCosts costs, int grain, long mostPendingUnits, boolean isOffPeak) {
        this.costs = costs;
        this.grain = grain;
        this.mostPendingUnits = mostPendingUnits;
        this.isOffPeak = isOffPeak;
    }

    /** Starts to measure at time 0. Up to then nothing takes time. */
    public void start() {
        isRunning = true;
    }

    /** Begins a request. */
    public void beginRequest() {
        hasWaited = false;
    }

    public long nowNanos() {
        return nowNanos;
    }

    /** Uses the fast tier for the request, with bytes in one piece. */
    public void fast(boolean isWrite, long bytes) {
        if (bytes > 0) {
            useFast(costs.fastNanos(isWrite, bytes, 1));
        }
    }

    /** Uses the fast tier for the request, with bytes in chunks. */
    public void fastChunks(boolean isWrite, long bytes, long chunks) {
        if (bytes > 0) {
            useFast(costs.fastNanos(isWrite, bytes, chunks * grain));
        }
    }

    /** Reads chunks of the fast tier for the request, one after another. */
    public void fastChunksInTurn(long bytes, long chunks) {
        if (bytes > 0) {
            useFast(costs.fastInTurnNanos(false, bytes, chunks * grain));
        }
    }

    private void useFast(long nanos) {
        if (!isRunning) {
            return;
        }
        runBackgroundUntil(nowNanos);
        nowNanos = Math.max(nowNanos, fastFreeNanos) + nanos;
        fastFreeNanos = nowNanos;
    }

    /** Uses the slow tier for the request. */
    public void slow(long bytes, double seeks) {
        if (!isRunning || bytes == 0) {
            return;
        }
        runBackgroundUntil(nowNanos);
        nowNanos = Math.max(nowNanos, slowFreeNanos) + costs.slowNanos(bytes, seeks);
        slowFreeNanos = nowNanos;
        armMoved = true;
    }

    /** Deduplicates for the request. */
    public void dedup(long bytes, long lookUps) {
        compute(costs.dedupNanos(bytes, lookUps * grain));
    }

    /** Finds and opens chunks for the request. */
    public void openChunks(long chunks) {
        compute(chunks * grain * costs.dedup().chunkNanos());
    }

    private void compute(long nanos) {
        if (isRunning) {
            nowNanos += nanos;
        }
    }

    /** Adds a migration to the work of the background thread. The first one of a request waits for earlier ones. */
    public Job startJob(Work work) {
        Job job = new Job(work);
        if (!isRunning || isOffPeak) {
            job.done = job.units;
            return job;
        }
        if (!hasWaited) {
            hasWaited = true;
            runBackgroundUntil(nowNanos);
            while (pendingUnits > mostPendingUnits) {
                runStep();
                nowNanos = Math.max(nowNanos, backgroundNanos);
            }
        }
        if (queue.isEmpty()) {
            backgroundNanos = Math.max(backgroundNanos, nowNanos);
        }
        queue.add(job);
        pendingUnits += job.units;
        return job;
    }

    /** Finishes all background work. Returns how long it takes after the last request. */
    public long drain() {
        while (!queue.isEmpty()) {
            runStep();
        }
        return Math.max(0, backgroundNanos - nowNanos);
    }

    /** Runs the steps of the background thread that begin before a time. */
    private void runBackgroundUntil(long nanos) {
        Job job = queue.peek();
        while (job != null && startNanos() < nanos) {
            runStep();
            job = queue.peek();
        }
    }

    private long startNanos() {
        return switch (step) {
            case 1, 3 -> Math.max(backgroundNanos, fastFreeNanos);
            case 0, 4 -> Math.max(backgroundNanos, slowFreeNanos);
            default -> backgroundNanos;
        };
    }

    private void runStep() {
        @Nullable Job job = queue.peek();
        if (job == null) {
            throw new IllegalStateException("there is no background work");
        }
        long start = startNanos();
        long nanos = stepNanos(job);
        if (nanos > 0) {
            backgroundNanos = start + nanos;
            if (step == 1 || step == 3) {
                fastFreeNanos = backgroundNanos;
            } else if (step == 0 || step == 4) {
                slowFreeNanos = backgroundNanos;
            }
        }
        step = (step + 1) % STEPS;
        if (step == 0) {
            pendingUnits--;
            if (++job.done == job.units) {
                queue.remove();
            }
        }
    }

    private long stepNanos(Job job) {
        Work work = job.work;
        return switch (step) {
            case 0 -> slowNanos(share(work.slowRead(), job), work.slowSeeks() / job.units);
            case 1 -> fastNanos(false, share(work.fastRead(), job));
            case 2 -> costs.dedupNanos(share(work.cutBytes(), job), grain * share(work.lookUps(), job));
            case 3 -> fastNanos(true, share(work.fastWritten(), job));
            // The first unit moves the arm to the end of what is stored.
            default -> slowNanos(share(work.slowWritten(), job), job.done == 0 ? 1 : 0);
        };
    }

    /** Returns the part of the unit that is next, so that all units have the right sum. */
    private static long share(long whole, Job job) {
        return whole * (job.done + 1) / job.units - whole * job.done / job.units;
    }

    private long fastNanos(boolean isWrite, long bytes) {
        return bytes == 0 ? 0 : costs.fastNanos(isWrite, bytes, 1);
    }

    private long slowNanos(long bytes, double seeks) {
        if (bytes == 0) {
            return 0;
        }
        double moves = armMoved ? Math.max(1, seeks) : seeks;
        armMoved = false;
        return costs.slowNanos(bytes, moves);
    }
}
