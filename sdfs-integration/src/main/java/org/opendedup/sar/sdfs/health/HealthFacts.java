package org.opendedup.sar.sdfs.health;

import java.nio.file.Path;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.tier.SsdState;
import org.opendedup.sar.volume.SpaceUse;
import org.opendedup.sar.volume.VolumeCondition;

/**
 * What is known about a mounted volume at one moment. {@link HealthRules} decide whether that is well.
 *
 * @param volume name of the volume
 * @param log the daemon's log
 * @param data folder of the containers
 * @param hashDb folder of the fingerprint index
 * @param ssd state of the SSD
 * @param ssdReason why the SSD is in that state; may be empty
 * @param ssdDetachedOnRequest whether an administrator detached the SSD
 * @param fastTier the raw files
 * @param collectionFailure why the last collection of garbage failed; null if it did not
 * @param scrub the scrubs
 * @param lostAtLastEnd what the last daemon of the volume could not write; null if nothing is known to be lost
 * @param loggedWarnings warnings logged by the daemon, including those that the log only counts
 * @param loggedErrors errors logged by the daemon, likewise
 * @param now the time of the other facts
 */
public record HealthFacts(
        String volume,
        Path log,
        Path data,
        Path hashDb,
        VolumeCondition condition,
        SpaceUse space,
        SsdState ssd,
        String ssdReason,
        boolean ssdDetachedOnRequest,
        FastTierFacts fastTier,
        RequestFailures.Counts failures,
        @Nullable String collectionFailure,
        ScrubFacts scrub,
        @Nullable String lostAtLastEnd,
        long loggedWarnings,
        long loggedErrors,
        Instant now) {}
