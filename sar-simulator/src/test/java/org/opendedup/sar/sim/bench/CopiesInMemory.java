package org.opendedup.sar.sim.bench;

import org.opendedup.sar.sim.sar.TableCopies;
import org.opendedup.sar.ssd.Cause;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.OfferAnswer;

/** Copies of which those that are offered are taken and not kept, so that a benchmark measures the decision alone. */
final class CopiesInMemory extends TableCopies {
    private final MapEntry entry = new MapEntry();

    void put(long chunkId, int length) {
        entry.chunkId = chunkId;
        entry.length = length;
        put(entry);
    }

    @Override
    public OfferAnswer offer(
            long chunkId,
            int fingerprintPrefix,
            int count,
            int saving,
            Cause cause,
            byte[] data,
            int offset,
            int length) {
        return OfferAnswer.LANDED;
    }

    @Override
    public long liveLimitBytes() {
        return Long.MAX_VALUE;
    }
}
