package org.opendedup.sar.volume.names;

import java.util.concurrent.TimeUnit;
import org.opendedup.sar.volume.node.Node;

/** When reading sets an access time: as the mount(8) options of similar names define it. */
public enum AccessTimes {
    /** {@code noatime}. */
    NEVER {
        @Override
        boolean sets(Node node, long nowNs) {
            return false;
        }
    },
    /** {@code relatime}: if it is not later than the last change, or is at least a day old. */
    RELATIVE {
        @Override
        boolean sets(Node node, long nowNs) {
            long changed = Math.max(node.modifiedNs, node.changedNs);
            return node.accessedNs <= changed + KERNEL_TICK_NS || nowNs - node.accessedNs >= DAY_NS;
        }
    },
    /** {@code strictatime}: at each read. */
    ALWAYS {
        @Override
        boolean sets(Node node, long nowNs) {
            return nowNs != node.accessedNs;
        }
    };

    private static final long DAY_NS = TimeUnit.DAYS.toNanos(1);
    /**
     * Period of the kernel's coarse clock, in nanoseconds. The kernel stamps writes in its write-back cache by a clock
     * that advances once a tick. A change that it stamps as earlier than an access may have happened up to 10 ms later.
     */
    private static final long KERNEL_TICK_NS = TimeUnit.MILLISECONDS.toNanos(10);

    /**
     * Returns whether reading at {@code nowNs} (nanoseconds since 1970) sets the node's access time. Called with the
     * node's monitor held.
     */
    abstract boolean sets(Node node, long nowNs);
}
