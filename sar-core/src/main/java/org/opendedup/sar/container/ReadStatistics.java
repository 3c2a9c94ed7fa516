package org.opendedup.sar.container;

import java.util.concurrent.atomic.LongAdder;

/** What a {@link ContainerStore} has read from its directory since it was opened, recovery not counted. */
public final class ReadStatistics {
    private final LongAdder diskReads = new LongAdder();
    private final LongAdder diskReadBytes = new LongAdder();

    void add(long bytes) {
        diskReads.increment();
        diskReadBytes.add(bytes);
    }

    /** Read requests. */
    public long diskReads() {
        return diskReads.sum();
    }

    /** Bytes of these, gaps between coalesced frames included. */
    public long diskReadBytes() {
        return diskReadBytes.sum();
    }
}
