package org.opendedup.sar.sim.device;

import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Orders the requests of a disk by C-LOOK: upwards from the disk's position, then again from the lowest one. A request
 * that arrives at or above the position joins the current sweep; one below it waits for the next. Requests for one
 * place keep their order. For one thread.
 *
 * @param <T> type of the value that is kept with a request
 */
final class ClookQueue<T> {
    private PriorityQueue<Entry<T>> sweep = new PriorityQueue<>();
    private PriorityQueue<Entry<T>> nextSweep = new PriorityQueue<>();
    private long position;
    private long added;

    private record Entry<T>(long offset, long number, T request) implements Comparable<Entry<T>> {
        @Override
        public int compareTo(Entry<T> other) {
            int byPlace = Long.compare(offset, other.offset);
            return byPlace != 0 ? byPlace : Long.compare(number, other.number);
        }
    }

    void add(long offset, T request) {
        (offset >= position ? sweep : nextSweep).add(new Entry<>(offset, added++, request));
    }

    /** Removes and returns the request that is to be served next, or null if there is none. */
    @Nullable
    T take() {
        if (sweep.isEmpty()) {
            PriorityQueue<Entry<T>> done = sweep;
            sweep = nextSweep;
            nextSweep = done;
        }
        Entry<T> next = sweep.poll();
        if (next == null) {
            return null;
        }
        position = next.offset;
        return next.request;
    }
}
