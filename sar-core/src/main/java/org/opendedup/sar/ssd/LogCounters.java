package org.opendedup.sar.ssd;

import java.util.concurrent.atomic.LongAdder;

/** Counters of the SSD log. Safe for use by many threads. */
final class LogCounters {
    final LongAdder writtenRecords = new LongAdder();
    final LongAdder writtenBytes = new LongAdder();

    final LongAdder writeFailures = new LongAdder();
    final LongAdder readFailures = new LongAdder();
    final LongAdder badRecords = new LongAdder();
    final LongAdder reclaimedSegments = new LongAdder();
    final LongAdder cleanedSegments = new LongAdder();
    final LongAdder cleaningBytes = new LongAdder();
}
