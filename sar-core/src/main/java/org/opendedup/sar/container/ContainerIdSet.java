package org.opendedup.sar.container;

import java.util.BitSet;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A set of container ids, one bit per id: compact because ids are assigned consecutively. Safe for use by many threads.
 */
final class ContainerIdSet {
    private static final int PART_BITS = 16;

    private final Map<Long, BitSet> parts = new ConcurrentHashMap<>();

    void add(long container) {
        BitSet part = parts.computeIfAbsent(container >>> PART_BITS, number -> new BitSet());
        synchronized (part) {
            part.set(place(container));
        }
    }

    boolean contains(long container) {
        BitSet part = parts.get(container >>> PART_BITS);
        if (part == null) {
            return false;
        }
        synchronized (part) {
            return part.get(place(container));
        }
    }

    void clear() {
        parts.clear();
    }

    void remove(long container) {
        BitSet part = parts.get(container >>> PART_BITS);
        if (part != null) {
            synchronized (part) {
                part.clear(place(container));
            }
        }
    }

    private static int place(long container) {
        return (int) container & ((1 << PART_BITS) - 1);
    }
}
