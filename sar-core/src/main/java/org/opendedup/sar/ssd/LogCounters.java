package org.opendedup.sar.ssd;

import java.util.concurrent.atomic.LongAdder;

/** The SSD log's running figures. Safe for use by many threads. */
final class LogCounters {
    final LongAdder writtenRecords = new LongAdder();
    final LongAdder writtenBytes = new LongAdder();
    final LongAdder queueDrops = new LongAdder();
    /** Chunks dropped because there was no room for them, or because the SSD did not take them. */
    final LongAdder refused = new LongAdder();
    /** Offers whose bytes were not those of the chunk. */
    final LongAdder wrongOffers = new LongAdder();

    final LongAdder writeFailures = new LongAdder();
    final LongAdder readFailures = new LongAdder();
    final LongAdder badRecords = new LongAdder();
    final LongAdder reclaimedSegments = new LongAdder();
    final LongAdder cleanedSegments = new LongAdder();
    final LongAdder cleaningBytes = new LongAdder();
}
