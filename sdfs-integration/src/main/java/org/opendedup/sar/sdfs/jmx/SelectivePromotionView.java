package org.opendedup.sar.sdfs.jmx;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.config.SarParameters;
import org.opendedup.sar.tier.copies.Refusal;
import org.opendedup.sar.tier.policy.TierSettings;
import org.opendedup.sar.tier.promotion.PromotionStatistics;

/** Implements {@link SelectivePromotionMXBean} on {@link SarAdministration}. */
record SelectivePromotionView(SarAdministration sar) implements SelectivePromotionMXBean {
    @Override
    public boolean isEnabled() {
        return settings().enabled();
    }

    @Override
    public void setEnabled(boolean enabled) {
        sar.set(SarParameters.ENABLED, enabled);
    }

    @Override
    public int getReferenceCountThreshold() {
        return settings().referenceCountThreshold();
    }

    @Override
    public void setReferenceCountThreshold(int referenceCountThreshold) {
        sar.set(SarParameters.REFERENCE_COUNT_THRESHOLD, referenceCountThreshold);
    }

    @Override
    public int getMaxRunBytes() {
        return settings().maxRunBytes();
    }

    @Override
    public void setMaxRunBytes(int maxRunBytes) {
        sar.set(SarParameters.MAX_RUN_BYTES, maxRunBytes);
    }

    @Override
    public boolean isPromoteOnRead() {
        return settings().promoteOnRead();
    }

    @Override
    public void setPromoteOnRead(boolean promoteOnRead) {
        sar.set(SarParameters.PROMOTE_ON_READ, promoteOnRead);
    }

    @Override
    public String getPolicy() {
        return SarParameters.spelling(settings().policy());
    }

    @Override
    public void setPolicy(@Nullable String policy) {
        sar.set(SarParameters.POLICY, policy);
    }

    @Override
    public long getOfferedChunks() {
        return figures().offered();
    }

    @Override
    public long getQueuedChunks() {
        return figures().queued();
    }

    @Override
    public long getRememberedChunks() {
        return figures().remembered();
    }

    @Override
    public long getRefusedChunks() {
        return figures().allRefused();
    }

    @Override
    public long getPromotedChunks() {
        return figures().promoted();
    }

    @Override
    public long getPromotedBytes() {
        return figures().bytes();
    }

    @Override
    public long getPromotedByWrite() {
        return figures().byWrite();
    }

    @Override
    public long getPromotedByRead() {
        return figures().byRead();
    }

    @Override
    public long getPromotedByRecipe() {
        return figures().byRecipe();
    }

    @Override
    public long getRefusedCount() {
        return figures().refused(Refusal.COUNT);
    }

    @Override
    public long getRefusedRun() {
        return figures().refused(Refusal.RUN);
    }

    @Override
    public long getRefusedPresent() {
        return figures().refused(Refusal.PRESENT);
    }

    @Override
    public long getRefusedRank() {
        return figures().refused(Refusal.RANK);
    }

    @Override
    public long getRefusedTooLarge() {
        return figures().refused(Refusal.TOO_LARGE);
    }

    @Override
    public long getRefusedNoRoom() {
        return figures().refused(Refusal.NO_ROOM);
    }

    @Override
    public long getRefusedQueue() {
        return figures().refused(Refusal.QUEUE);
    }

    @Override
    public long getRefusedUnavailable() {
        return figures().refused(Refusal.UNAVAILABLE);
    }

    @Override
    public long getRefusedWriteFailed() {
        return figures().refused(Refusal.WRITE_FAILED);
    }

    @Override
    public long getRefusedDamaged() {
        return figures().refused(Refusal.DAMAGED);
    }

    @Override
    public long getRefusedUnreadable() {
        return figures().refused(Refusal.UNREADABLE);
    }

    @Override
    public long getRefusedUnreferenced() {
        return figures().refused(Refusal.UNREFERENCED);
    }

    private TierSettings settings() {
        return sar.status().settings();
    }

    private PromotionStatistics figures() {
        return sar.status().promotion();
    }
}
