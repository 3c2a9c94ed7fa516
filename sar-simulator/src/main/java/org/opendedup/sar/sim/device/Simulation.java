package org.opendedup.sar.sim.device;

import java.util.PriorityQueue;

/**
 * The clock and the event queue of a simulation. Events of the same time run in the order in which they were entered,
 * so a run depends only on its input. For one thread.
 */
public final class Simulation {
    private final PriorityQueue<Event> agenda = new PriorityQueue<>();
    private long nowNanos;
    private long entered;

    /** An event of the simulation. */
    @FunctionalInterface
    public interface Action {
        void run();
    }

    private record Event(long timeNanos, long number, Action action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(timeNanos, other.timeNanos);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    /** Returns the nanoseconds since the start. */
    public long nowNanos() {
        return nowNanos;
    }

    /**
     * Enters an event.
     *
     * @throws IllegalArgumentException if that time is past
     */
    public void at(long timeNanos, Action action) {
        if (timeNanos < nowNanos) {
            throw new IllegalArgumentException(timeNanos + " ns is past: it is " + nowNanos + " ns");
        }
        agenda.add(new Event(timeNanos, entered++, action));
    }

    /** Runs until no event is left. */
    public void run() {
        runUntil(Long.MAX_VALUE);
    }

    /** Runs all events up to that time, inclusive; the clock stops at the last of them. */
    public void runUntil(long timeNanos) {
        Event next = agenda.peek();
        while (next != null && next.timeNanos <= timeNanos) {
            agenda.remove();
            nowNanos = next.timeNanos;
            next.action.run();
            next = agenda.peek();
        }
    }
}
