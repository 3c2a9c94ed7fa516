package org.opendedup.sar.restore.cache;

import com.carrotsearch.hppc.LongIntHashMap;

/** Counts exactly, with a map entry for each container that the window refers to. */
final class ExactReferences implements ContainerReferences {
    private final LongIntHashMap counts = new LongIntHashMap();

    @Override
    public void add(long container) {
        counts.addTo(container, 1);
    }

    @Override
    public void remove(long container) {
        int count = counts.get(container);
        if (count == 0) {
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
        return counts.get(container);
    }

    @Override
    public long heapBytes() {
        return counts.ramBytesAllocated();
    }
}
