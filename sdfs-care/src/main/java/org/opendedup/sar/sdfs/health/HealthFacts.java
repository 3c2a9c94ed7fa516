package org.opendedup.sar.sdfs.health;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.volume.engine.VolumeCondition;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.store.RemoteStatistics;

/**
 * What is known about a mounted volume at one moment. {@link HealthRules} decide whether that is well.
 *
 * @param store what it stores
 * @param log the daemon's log
 * @param hashDb folder of the fingerprint index
 * @param fastTier the raw files
 * @param snapshots the snapshots
 * @param remote the object store; null: the volume is on this machine only
 * @param lostAtLastEnd what the last daemon of the volume could not write; null if nothing is known to be lost
 * @param loggedWarnings warnings logged by the daemon, including those that the log only counts
 * @param loggedErrors errors logged by the daemon, likewise
 */
public record HealthFacts(
        StoreFacts store,
        Path log,
        Path hashDb,
        SpaceUse space,
        FastTierFacts fastTier,
        SnapshotFacts snapshots,
        @Nullable RemoteStatistics remote,
        RequestFailures.Counts failures,
        @Nullable String lostAtLastEnd,
        long loggedWarnings,
        long loggedErrors) {
    public String volume() {
        return store.volume();
    }

    public VolumeCondition condition() {
        return store.condition();
    }
}
