package org.opendedup.sar.tier;

import java.util.concurrent.atomic.LongAdder;
import org.opendedup.sar.ssd.OfferAnswer;

/** Counts what {@link SelectivePromotion} did. */
final class PromotionCounters {
    private final LongAdder byWrite = new LongAdder();
    private final LongAdder byRead = new LongAdder();
    private final LongAdder byRecipe = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    final LongAdder refusedCount = new LongAdder();
    final LongAdder refusedRun = new LongAdder();
    final LongAdder refusedRank = new LongAdder();
    private final LongAdder refusedPresent = new LongAdder();
    private final LongAdder refusedQueue = new LongAdder();
    private final LongAdder refusedUnavailable = new LongAdder();

    void present() {
        refusedPresent.increment();
    }

    void answered(OfferAnswer answer, Cause cause, int length) {
        switch (answer) {
            case TAKEN -> {
                promoted(cause).increment();
                bytes.add(length);
            }
            case PRESENT -> refusedPresent.increment();
            case QUEUE_FULL -> refusedQueue.increment();
            case UNAVAILABLE -> refusedUnavailable.increment();
        }
    }

    PromotionStatistics statistics() {
        return new PromotionStatistics(
                byWrite.sum(),
                byRead.sum(),
                byRecipe.sum(),
                bytes.sum(),
                refusedCount.sum(),
                refusedRun.sum(),
                refusedPresent.sum(),
                refusedQueue.sum(),
                refusedRank.sum(),
                refusedUnavailable.sum());
    }

    private LongAdder promoted(Cause cause) {
        return switch (cause) {
            case WRITE -> byWrite;
            case READ -> byRead;
            case RECIPE -> byRecipe;
        };
    }
}
