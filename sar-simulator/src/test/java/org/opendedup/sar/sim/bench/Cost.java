package org.opendedup.sar.sim.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * The measured cost of an operation.
 *
 * @param nanos wall time, in nanoseconds
 * @param cpuNanos CPU time of the thread, in nanoseconds
 * @param bytesRead bytes that system calls returned to this process meanwhile, in all its threads
 */
record Cost(long nanos, long cpuNanos, long bytesRead) {
    /** The operation that is measured. */
    interface Work {
        void run() throws IOException;
    }

    /** An operation that is measured several times, with a preparation that must not be measured. */
    interface Round {
        Cost run(int round) throws IOException;
    }

    static Cost of(Work work) throws IOException {
        long bytes = ProcessFigures.bytesRead();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long cpu = threads.getCurrentThreadCpuTime();
        long begin = System.nanoTime();
        work.run();
        long nanos = System.nanoTime() - begin;
        return new Cost(nanos, threads.getCurrentThreadCpuTime() - cpu, ProcessFigures.bytesRead() - bytes);
    }

    static List<Cost> several(int rounds, Round round) throws IOException {
        List<Cost> costs = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            costs.add(round.run(i));
        }
        return costs;
    }

    /** Returns the median of each component; the medians may be of different rounds. */
    static Cost median(List<Cost> costs) {
        return new Cost(median(costs, Cost::nanos), median(costs, Cost::cpuNanos), median(costs, Cost::bytesRead));
    }

    private static long median(List<Cost> costs, ToLongFunction<Cost> figure) {
        return costs.stream()
                .mapToLong(figure)
                .sorted()
                .skip(costs.size() / 2)
                .findFirst()
                .orElseThrow();
    }

    static Cost most(List<Cost> costs) {
        return costs.stream().max(Comparator.comparingLong(Cost::bytesRead)).orElseThrow();
    }

    /** Returns the cost of one of {@code operations} operations. */
    Cost each(int operations) {
        return new Cost(nanos / operations, cpuNanos / operations, bytesRead / operations);
    }

    double seconds() {
        return nanos / 1e9;
    }

    @Override
    public String toString() {
        return String.format("%.1f us (%.1f of CPU), %.1f KB read", nanos / 1e3, cpuNanos / 1e3, bytesRead / 1e3);
    }
}
