package org.opendedup.sar.sdfs.jmx;

import org.opendedup.sar.sdfs.config.SarParameters;
import org.opendedup.sar.tier.PromotionStatistics;
import org.opendedup.sar.tier.TierSettings;

/** What is promoted, and by which parameters. */
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
    public void setPolicy(String policy) {
        sar.set(SarParameters.POLICY, policy);
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
        return figures().refusedCount();
    }

    @Override
    public long getRefusedRun() {
        return figures().refusedRun();
    }

    @Override
    public long getRefusedPresent() {
        return figures().refusedPresent();
    }

    @Override
    public long getRefusedQueue() {
        return figures().refusedQueue();
    }

    @Override
    public long getRefusedRank() {
        return figures().refusedRank();
    }

    @Override
    public long getRefusedUnavailable() {
        return figures().refusedUnavailable();
    }

    private TierSettings settings() {
        return sar.status().settings();
    }

    private PromotionStatistics figures() {
        return sar.status().promotion();
    }
}
