package org.opendedup.sar.sim.device;

import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Requests of a disk in the order of C-LOOK: upwards from where the disk is, then from the lowest again. What arrives ahead of the
 * disk joins its sweep; what arrives behind it waits for the next. Requests for one place keep their order. For one thread.
 *
 * @param <T> what is kept with a request
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

    /** Takes the request that is to be served next, or null if there is none. */
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
