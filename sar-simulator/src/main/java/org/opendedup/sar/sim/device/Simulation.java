package org.opendedup.sar.sim.device;

import java.util.PriorityQueue;

/**
 * The clock of a simulation and its agenda. Things that happen at the same time happen in the order in which they were entered, so
 * a run depends on nothing but its input. For one thread.
 */
public final class Simulation {
    private final PriorityQueue<Event> agenda = new PriorityQueue<>();
    private long nowNanos;
    private long entered;

    /** Something that happens at a moment. */
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

    /** Nanoseconds since the start. */
    public long nowNanos() {
        return nowNanos;
    }

    /**
     * Enters what is to happen.
     *
     * @throws IllegalArgumentException if that time is past
     */
    public void at(long timeNanos, Action action) {
        if (timeNanos < nowNanos) {
            throw new IllegalArgumentException(timeNanos + " ns is past: it is " + nowNanos + " ns");
        }
        agenda.add(new Event(timeNanos, entered++, action));
    }

    /** Runs until nothing is left to happen. */
    public void run() {
        runUntil(Long.MAX_VALUE);
    }

    /** Runs all that happens up to that time, this included; the clock stays at the last of it. */
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
