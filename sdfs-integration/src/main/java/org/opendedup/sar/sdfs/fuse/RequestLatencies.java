package org.opendedup.sar.sdfs.fuse;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.opendedup.sar.common.LatencyBuckets;

/**
 * How long the requests of the kernel take, by kind: from the moment at which a request was received until its reply is
 * made. Safe for use by many threads; recording allocates nothing.
 */
public final class RequestLatencies {
    /** Kinds of requests that are counted together. Forgotten inodes and interrupts have no reply. */
    public enum Kind {
        READ,
        WRITE,
        /** Of a file, a folder or the file system. */
        FSYNC,
        /** The close of a descriptor, which reports failed writes. */
        FLUSH,
        OPEN,
        RELEASE,
        LOOKUP,
        GETATTR,
        SETATTR,
        /** Lists a folder. */
        READDIR,
        /** Makes a file, folder, link or device. */
        CREATE,
        /** Removes a name. */
        UNLINK,
        RENAME,
        /** Extended attributes. */
        XATTR,
        /** Ranges of files: allocates, punches, copies, seeks. */
        RANGE,
        OTHER;

        /** Returns the value of the label in Prometheus. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final LatencyBuckets[] latencies = new LatencyBuckets[Kind.values().length];

    RequestLatencies() {
        for (int kind = 0; kind < latencies.length; kind++) {
            latencies[kind] = new LatencyBuckets();
        }
    }

    /** @param beganNanos when the request was received, as {@link System#nanoTime} */
    public void record(Kind kind, long beganNanos) {
        latencies[kind.ordinal()].record(System.nanoTime() - beganNanos);
    }

    /** Returns what was counted since the mount, by the labels of the kinds. */
    public Map<String, LatencyBuckets.Counts> counts() {
        Map<String, LatencyBuckets.Counts> counts = new TreeMap<>();
        for (Kind kind : Kind.values()) {
            counts.put(kind.label(), latencies[kind.ordinal()].counts());
        }
        return counts;
    }
}
