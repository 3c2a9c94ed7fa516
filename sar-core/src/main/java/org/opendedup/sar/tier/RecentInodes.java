package org.opendedup.sar.tier;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The inodes whose recipes are worth a look once they are quiet: bounded; the one that waits longest gives way, which costs a
 * promotion and nothing else. Safe for use by many threads.
 */
final class RecentInodes {
    private final int capacity;
    private final long quietNanos;
    /** Inode, and when it was last written; in the order of these times. */
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

    /** Takes an inode that has been quiet long enough; {@code none} if there is none. */
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
