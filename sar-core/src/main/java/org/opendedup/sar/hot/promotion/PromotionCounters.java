package org.opendedup.sar.hot.promotion;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.ssd.Cause;

/** Counters of {@link SelectivePromotion}. */
final class PromotionCounters {
    private final LongAdder offered = new LongAdder();
    private final LongAdder queued = new LongAdder();
    private final Map<Cause, LongAdder> landed = new EnumMap<>(Cause.class);
    private final LongAdder bytes = new LongAdder();
    private final Map<Refusal, LongAdder> refused = new EnumMap<>(Refusal.class);

    PromotionCounters() {
        for (Cause cause : Cause.values()) {
            landed.put(cause, new LongAdder());
        }
        for (Refusal refusal : Refusal.values()) {
            refused.put(refusal, new LongAdder());
        }
    }

    void offered(long chunks) {
        offered.add(chunks);
    }

    /** Counts a chunk that an SSD accepted; a call of {@link #decided} follows. */
    void queued() {
        queued.increment();
    }

    void decided() {
        queued.decrement();
    }

    void landed(Cause cause, int lengthBytes) {
        counter(landed, cause).increment();
        bytes.add(lengthBytes);
    }

    void refused(Refusal refusal) {
        refused(refusal, 1);
    }

    void refused(Refusal refusal, long chunks) {
        counter(refused, refusal).add(chunks);
    }

    private static <K extends Enum<K>> LongAdder counter(Map<K, LongAdder> counters, K key) {
        LongAdder counter = counters.get(key);
        if (counter == null) {
            throw new AssertionError(key + " has no counter");
        }
        return counter;
    }

    /** @param remembered chunks to be fetched again */
    PromotionStatistics statistics(long remembered) {
        Map<Refusal, Long> refusals = new EnumMap<>(Refusal.class);
        refused.forEach((refusal, count) -> refusals.put(refusal, count.sum()));
        return new PromotionStatistics(
                offered.sum(),
                counter(landed, Cause.WRITE).sum(),
                counter(landed, Cause.READ).sum(),
                counter(landed, Cause.RECIPE).sum(),
                bytes.sum(),
                queued.sum(),
                remembered,
                refusals);
    }
}
