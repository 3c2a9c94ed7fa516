package org.opendedup.sar.sim.index;

import com.carrotsearch.hppc.LongHashSet;

/** All fingerprints in memory, 40 bytes for each with its id: what the others are compared with. */
final class ExactModel extends IndexModel {
    private final LongHashSet stored = new LongHashSet();
    private long storedBytes;
    private long segments;

    @Override
    void store(TraceSegment segment) {
        segments++;
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (stored.add(segment.key(chunk))) {
                storedBytes += segment.length(chunk);
            } else {
                found(segment.length(chunk));
            }
        }
    }

    /** Returns the bytes of the different contents. */
    long uniqueBytes() {
        return storedBytes;
    }

    /** Returns the number of segments of the trace. */
    long segments() {
        return segments;
    }

    long uniqueChunks() {
        return stored.size();
    }

    @Override
    long indexBytes() {
        return stored.size() * (long) StoredContainers.ENTRY_BYTES;
    }

    @Override
    long cacheBytes() {
        return 0;
    }
}
