package org.opendedup.sar.concurrent;

import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.opendedup.sar.model.ModelFileSystem;

/**
 * Searches an order of a history's events in which a single caller could have made them on the model: each event
 * between its invocation and its return, each with its result. The search is that of Wing and Gong (Testing and
 * Verifying Concurrent Objects, 1993). It does not visit the same completed events with the same state twice, as in
 * Lowe (Testing for Linearizability, 2017).
 *
 * <p>An event that changes nothing and would now have its result is placed now: if there is any order from here, there
 * is one with that event first. So only changes make the search branch.
 */
final class OrderSearch {
    /**
     * Number of visited states after which the search ends without a result; a round of 8 threads and 6 calls usually
     * needs fewer than a hundred.
     */
    private static final int MAX_VISITED = 100_000;

    private final List<Event> events;
    private final Predicate<ModelFileSystem> end;
    private final Set<Visited> visited = new HashSet<>();

    private record Visited(BitSet done, String state) {}

    /** @param end the required state after the last event */
    OrderSearch(List<Event> events, Predicate<ModelFileSystem> end) {
        this.events = List.copyOf(events);
        this.end = end;
    }

    /** The state at the end of an order, or empty if there is none. */
    Optional<ModelFileSystem> from(ModelFileSystem start) {
        return search(start.copy(), new BitSet());
    }

    /** Whether the search ended before it was complete. */
    boolean gaveUp() {
        return visited.size() >= MAX_VISITED;
    }

    private Optional<ModelFileSystem> search(ModelFileSystem state, BitSet done) {
        while (doOneWithoutChange(state, done)) {
            // Until there is none.
        }
        if (done.cardinality() == events.size()) {
            return end.test(state) ? Optional.of(state) : Optional.empty();
        }
        if (gaveUp() || !visited.add(new Visited(done, state.describe()))) {
            return Optional.empty();
        }
        return searchChanges(state, done);
    }

    private Optional<ModelFileSystem> searchChanges(ModelFileSystem state, BitSet done) {
        long firstReturn = firstReturn(done);
        for (int i = done.nextClearBit(0); i < events.size(); i = done.nextClearBit(i + 1)) {
            Event event = events.get(i);
            if (event.isChange() && event.invoked() < firstReturn) {
                ModelFileSystem next = state.copy();
                if (isAnsweredBy(next, event)) {
                    BitSet nextDone = (BitSet) done.clone();
                    nextDone.set(i);
                    Optional<ModelFileSystem> found = search(next, nextDone);
                    if (found.isPresent()) {
                        return found;
                    }
                }
            }
        }
        return Optional.empty();
    }

    private boolean doOneWithoutChange(ModelFileSystem state, BitSet done) {
        long firstReturn = firstReturn(done);
        for (int i = done.nextClearBit(0); i < events.size(); i = done.nextClearBit(i + 1)) {
            Event event = events.get(i);
            if (!event.isChange() && event.invoked() < firstReturn) {
                // A refused change may be one that the model would make.
                ModelFileSystem asked = event.call().isQuestion() ? state : state.copy();
                if (isAnsweredBy(asked, event)) {
                    done.set(i);
                    return true;
                }
            }
        }
        return false;
    }

    /** No event invoked later than this may be next. */
    private long firstReturn(BitSet done) {
        long first = Long.MAX_VALUE;
        for (int i = done.nextClearBit(0); i < events.size(); i = done.nextClearBit(i + 1)) {
            first = Math.min(first, events.get(i).returned());
        }
        return first;
    }

    private static boolean isAnsweredBy(ModelFileSystem state, Event event) {
        if (event.answer().inode() != 0) {
            state.numberNext(event.answer().inode());
        }
        return new Caller(state).call(event.call()).explains(event.answer());
    }
}
