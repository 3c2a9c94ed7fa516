package org.opendedup.sar.ingest;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counters of the write path since the volume was opened. Bytes that are cut again next to an overwrite are counted
 * again.
 */
public final class IngestStatistics {
    final LongAdder duplicateBytes = new LongAdder();
    final LongAdder zeroBytes = new LongAdder();
    final LongAdder segments = new LongAdder();

    /** Returns the bytes of chunks that were already stored. */
    public long duplicateBytes() {
        return duplicateBytes.sum();
    }

    /** Returns the number of segments that were stored. */
    public long segments() {
        return segments.sum();
    }

    /** Returns the bytes of zero runs. */
    public long zeroBytes() {
        return zeroBytes.sum();
    }
}
