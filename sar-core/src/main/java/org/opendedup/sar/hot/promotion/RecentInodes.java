package org.opendedup.sar.hot.promotion;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A bounded queue of inodes whose recipes are to be examined once the files are quiet. A new inode replaces the oldest
 * one of a full queue, which only costs a promotion. Safe for use by many threads.
 */
final class RecentInodes {
    private final int capacity;
    private final long quietNanos;
    /** Time of the last write of each inode, in nanoseconds; in the order of these times. */
    private final Map<Long, Long> waiting = new LinkedHashMap<>();

    RecentInodes(int capacity, long quietNanos) {
        this.capacity = capacity;
        this.quietNanos = quietNanos;
    }

    synchronized void note(long inode, long nowNanos) {
        waiting.remove(inode);
        if (waiting.size() == capacity) {
            waiting.remove(waiting.keySet().iterator().next());
        }
        waiting.put(inode, nowNanos);
    }

    /** Removes and returns an inode that has been quiet long enough; {@code none} if there is none. */
    synchronized long takeQuiet(long nowNanos, long none) {
        for (Map.Entry<Long, Long> oldest : waiting.entrySet()) {
            if (nowNanos - oldest.getValue() < quietNanos) {
                return none;
            }
            long inode = oldest.getKey();
            waiting.remove(inode);
            return inode;
        }
        return none;
    }
}
