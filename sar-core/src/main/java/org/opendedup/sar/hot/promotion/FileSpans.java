package org.opendedup.sar.hot.promotion;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A bounded queue of file ranges to be examined after a delay, in the order in which they were noted. A new range
 * replaces the oldest one of a full queue, which only costs promotions. Safe for use by many threads.
 */
final class FileSpans {
    private final int capacity;
    private final long delayNanos;
    private final ArrayDeque<Noted> waiting = new ArrayDeque<>();

    /** Bytes {@code from} to {@code to} (exclusive) of a file. */
    record Span(long inode, long from, long to) {}

    private record Noted(Span span, long nanos) {}

    FileSpans(int capacity, long delayNanos) {
        this.capacity = capacity;
        this.delayNanos = delayNanos;
    }

    /**
     * Notes a range; joins it to the newest range if it continues that range.
     *
     * @return false if another range was dropped for it
     */
    synchronized boolean note(long inode, long from, long to, long nowNanos) {
        Noted last = waiting.peekLast();
        long start = from;
        boolean room = true;
        if (last != null && last.span.inode == inode && last.span.to == from) {
            waiting.removeLast();
            start = last.span.from;
        } else if (waiting.size() == capacity) {
            waiting.removeFirst();
            room = false;
        }
        waiting.addLast(new Noted(new Span(inode, start, to), nowNanos));
        return room;
    }

    /** Removes and returns the oldest range if its delay has passed; null if there is none. */
    synchronized @Nullable Span take(long nowNanos) {
        Noted first = waiting.peekFirst();
        if (first == null || nowNanos - first.nanos < delayNanos) {
            return null;
        }
        waiting.removeFirst();
        return first.span;
    }
}
