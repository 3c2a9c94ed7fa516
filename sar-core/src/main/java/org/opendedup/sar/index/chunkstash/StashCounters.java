package org.opendedup.sar.index.chunkstash;

import java.util.concurrent.atomic.LongAdder;

/** Counts what lookups read from the log. Safe for use by many threads. */
final class StashCounters {
    private final LongAdder reads = new LongAdder();
    private final LongAdder readBytes = new LongAdder();
    private final LongAdder falseReads = new LongAdder();

    void countRead(int bytes) {
        reads.increment();
        readBytes.add(bytes);
    }

    /** Counts a read of an entry whose signature matched and whose fingerprint did not. */
    void countFalseRead() {
        falseReads.increment();
    }

    long reads() {
        return reads.sum();
    }

    long readBytes() {
        return readBytes.sum();
    }

    long falseReads() {
        return falseReads.sum();
    }
}
