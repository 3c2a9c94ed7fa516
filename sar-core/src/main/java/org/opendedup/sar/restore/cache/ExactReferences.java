package org.opendedup.sar.restore.cache;

import org.opendedup.sar.common.LongIntMap;

/** Counts exactly, with a map entry for each container that the window refers to. */
final class ExactReferences implements ContainerReferences {
    private final LongIntMap counts = new LongIntMap();

    @Override
    public void add(long container) {
        counts.put(container, count(container) + 1);
    }

    @Override
    public void remove(long container) {
        int count = counts.get(container);
        if (count == LongIntMap.ABSENT) {
            throw new IllegalStateException("container " + container + " has no references in the window");
        }
        if (count == 1) {
            counts.remove(container);
        } else {
            counts.put(container, count - 1);
        }
    }

    @Override
    public int count(long container) {
        return Math.max(0, counts.get(container));
    }

    @Override
    public long heapBytes() {
        return counts.heapBytes();
    }
}
