package org.opendedup.sar.collect;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.metadata.ContainerEntry;
import org.opendedup.sar.metadata.ContainerTable;

/**
 * Chooses the containers to collect, by the container table: those with the largest share of garbage, until the rest
 * has no more garbage than allowed. This is the greedy rule of log-structured stores (Rosenblum and Ousterhout, SOSP
 * '91): it copies the fewest bytes for the space that it returns. Containers with a damaged chunk that files refer to
 * are not chosen, because they cannot be copied.
 *
 * <p>Memory: a table of a thousand shares, however many containers there are.
 */
final class Victims {
    /** Shares of garbage are told apart in steps of a thousandth. */
    private static final int STEPS = 1000;

    private final ContainerTable table;
    private final long[] garbageBytes = new long[STEPS + 1];
    private final long[] containerBytes = new long[STEPS + 1];
    private final long[] containers = new long[STEPS + 1];
    private long allContainers;
    private long allBytes;
    private long allGarbageBytes;
    /** Least share of garbage of a chosen container, in thousandths. */
    private int leastStep = STEPS;

    private Victims(ContainerTable table) {
        this.table = table;
    }

    /**
     * Looks at the whole table and chooses.
     *
     * @param garbageShare share of the stored bytes that may stay garbage
     */
    static Victims choose(ContainerTable table, double garbageShare) throws IOException {
        Victims victims = new Victims(table);
        table.forEach(victims::add);
        victims.choose(garbageShare);
        return victims;
    }

    private void add(ContainerEntry entry) {
        allContainers++;
        allBytes += entry.stored().bytes();
        long garbage = entry.garbageBytes();
        allGarbageBytes += garbage;
        if (isCollectable(entry)) {
            int step = step(entry);
            garbageBytes[step] += garbage;
            containerBytes[step] += entry.stored().bytes();
            containers[step]++;
        }
    }

    private void choose(double garbageShare) {
        long left = allGarbageBytes - garbageBytes[STEPS];
        double liveBytes = allBytes - allGarbageBytes;
        // A rest r of live + r bytes is at most the share if r is at most live * share / (1 - share).
        double allowed = garbageShare < 1 ? liveBytes * garbageShare / (1 - garbageShare) : Double.MAX_VALUE;
        while (leastStep > 1 && left > allowed) {
            leastStep--;
            left -= garbageBytes[leastStep];
        }
    }

    private static boolean isCollectable(ContainerEntry entry) {
        return entry.stored().state() == StoredContainer.State.SEALED
                && (entry.liveBytes() == 0 || entry.damagedSlots() == 0);
    }

    private static int step(ContainerEntry entry) {
        return entry.liveBytes() == 0
                ? STEPS
                : (int) Math.min(
                        STEPS - 1L,
                        entry.garbageBytes() * STEPS / entry.stored().bytes());
    }

    /**
     * Returns the next chosen containers, in ascending order of ids.
     *
     * @param from least id
     * @param count most containers to return
     */
    List<ContainerEntry> next(long from, int count) throws IOException {
        List<ContainerEntry> next = new ArrayList<>();
        table.forEachFrom(from, entry -> {
            if (isCollectable(entry) && step(entry) >= leastStep) {
                next.add(entry);
            }
            return next.size() < count;
        });
        return next;
    }

    long containers() {
        return allContainers;
    }

    long storedBytes() {
        return allBytes;
    }

    long garbageBytes() {
        return allGarbageBytes;
    }

    long chosen() {
        return sum(containers, leastStep);
    }

    long chosenBytes() {
        return sum(containerBytes, leastStep);
    }

    /** Returns the number of chosen containers without a chunk that files refer to. */
    long chosenEmpty() {
        return containers[STEPS];
    }

    /** Returns the estimated garbage of the chosen containers, in stored bytes. */
    long chosenGarbageBytes() {
        return sum(garbageBytes, leastStep);
    }

    private static long sum(long[] values, int from) {
        long sum = 0;
        for (int step = from; step < values.length; step++) {
            sum += values[step];
        }
        return sum;
    }
}
