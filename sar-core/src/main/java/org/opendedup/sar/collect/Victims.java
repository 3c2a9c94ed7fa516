package org.opendedup.sar.collect;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.metadata.pending.ContainerTable;
import org.opendedup.sar.metadata.record.ContainerEntry;

/**
 * Chooses the containers to collect, by the container table: those with the largest share of garbage, until the rest
 * has no more garbage than allowed. This is the greedy rule of log-structured stores (Rosenblum and Ousterhout, SOSP
 * '91): it copies the fewest bytes for the space that it returns.
 *
 * <p>Memory: a table of a thousand shares, however many containers there are.
 */
final class Victims {
    /** Shares of garbage are told apart in steps of a thousandth. */
    private static final int STEPS = 1000;

    /** Step of all containers with live chunks of chosen packs. */
    private static final int OF_PACKS = STEPS - 1;

    private final ContainerTable table;
    private final long[] garbageBytes = new long[STEPS + 1];
    private final long[] containerBytes = new long[STEPS + 1];
    private final long[] containers = new long[STEPS + 1];
    private final long[] recompressBytes = new long[STEPS + 1];
    private final long[] recompressContainers = new long[STEPS + 1];
    private final Recompression recompression;
    private long allContainers;
    private long allBytes;
    private long allGarbageBytes;
    /** Least share of garbage of a chosen container, in thousandths. */
    private int leastStep = STEPS;

    /** Packs whose containers are chosen, whatever their garbage; null where each container is looked at. */
    private final @Nullable Set<Long> packs;

    private Victims(ContainerTable table, @Nullable Set<Long> packs, Recompression recompression) {
        this.table = table;
        this.packs = packs;
        this.recompression = recompression;
    }

    /**
     * Looks at the whole table and chooses.
     *
     * @param garbageShare share of the stored bytes that may stay garbage
     * @param recompression which of the others are compressed anew
     */
    static Victims choose(ContainerTable table, double garbageShare, Recompression recompression) throws IOException {
        Victims victims = new Victims(table, null, recompression);
        table.forEach(victims::add);
        victims.choose(garbageShare);
        return victims;
    }

    /**
     * Looks at the whole table and chooses the containers of some packs, and all containers without a live chunk: for a
     * file system that gives space back only with a whole pack. No others are compressed anew: to copy them would take
     * space.
     */
    static Victims ofPacks(ContainerTable table, Set<Long> packs) throws IOException {
        Victims victims = new Victims(table, packs, Recompression.NONE);
        table.forEach(victims::add);
        victims.leastStep = OF_PACKS;
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
            if (recompression.chooses(entry)) {
                recompressBytes[step] += entry.stored().bytes();
                recompressContainers[step]++;
            }
        }
    }

    private void choose(double garbageShare) {
        long left = allGarbageBytes - garbageBytes[STEPS];
        double liveBytes = allBytes - allGarbageBytes;
        double allowed = allowedGarbage(liveBytes, garbageShare);
        while (leastStep > 1 && left > allowed) {
            leastStep--;
            left -= garbageBytes[leastStep];
        }
    }

    /** Returns the bytes of garbage that are at most a share of all bytes, if so many are alive. */
    static double allowedGarbage(double liveBytes, double garbageShare) {
        // A rest r of live + r bytes is at most the share if r is at most live * share / (1 - share).
        return garbageShare < 1 ? liveBytes * garbageShare / (1 - garbageShare) : Double.MAX_VALUE;
    }

    private static boolean isCollectable(ContainerEntry entry) {
        return entry.stored().state() == StoredContainer.State.SEALED;
    }

    private int step(ContainerEntry entry) {
        if (packs != null && entry.liveBytes() > 0) {
            return packs.contains(entry.stored().pack()) ? OF_PACKS : 0;
        }
        return entry.liveBytes() == 0
                ? STEPS
                : (int) Math.min(
                        STEPS - 1L,
                        entry.garbageBytes() * STEPS / entry.stored().bytes());
    }

    /**
     * Returns the next containers chosen for their garbage, in ascending order of ids.
     *
     * @param from least id
     * @param count most containers to return
     */
    List<ContainerEntry> next(long from, int count) throws IOException {
        return next(from, count, entry -> step(entry) >= leastStep);
    }

    /**
     * As {@link #next}, of the others that are to be compressed anew: those with little garbage. What the collection
     * has written anew until now is not among them.
     */
    List<ContainerEntry> nextToRecompress(long from, int count) throws IOException {
        return recompression.level() == 0
                ? List.of()
                : next(from, count, entry -> step(entry) < leastStep && recompression.chooses(entry));
    }

    private List<ContainerEntry> next(long from, int count, Predicate<ContainerEntry> chosen) throws IOException {
        List<ContainerEntry> next = new ArrayList<>();
        table.forEachFrom(from, entry -> {
            if (isCollectable(entry) && chosen.test(entry)) {
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

    /** Returns the estimated garbage of the chosen containers, in stored bytes. */
    long chosenGarbageBytes() {
        return sum(garbageBytes, leastStep);
    }

    /** Returns the number of containers that are to be compressed anew, besides those chosen for their garbage. */
    long recompressChosen() {
        return sum(recompressContainers, 0, leastStep);
    }

    long recompressBytes() {
        return sum(recompressBytes, 0, leastStep);
    }

    private static long sum(long[] values, int from) {
        return sum(values, from, values.length);
    }

    private static long sum(long[] values, int from, int to) {
        long sum = 0;
        for (int step = from; step < to; step++) {
            sum += values[step];
        }
        return sum;
    }
}
