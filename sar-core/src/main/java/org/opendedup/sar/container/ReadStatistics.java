package org.opendedup.sar.container;

import java.util.concurrent.atomic.LongAdder;

/** Counts the reads of a {@link ContainerStore} from its directory since it was opened, excluding recovery. */
public final class ReadStatistics {
    private final LongAdder diskReads = new LongAdder();
    private final LongAdder diskReadBytes = new LongAdder();

    ReadStatistics() {}

    void add(long bytes) {
        diskReads.increment();
        diskReadBytes.add(bytes);
    }

    /** Returns the number of read requests. */
    public long diskReads() {
        return diskReads.sum();
    }

    /** Returns the bytes read by these requests, including gaps between coalesced frames. */
    public long diskReadBytes() {
        return diskReadBytes.sum();
    }
}
