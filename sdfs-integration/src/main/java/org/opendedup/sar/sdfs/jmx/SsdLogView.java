package org.opendedup.sar.sdfs.jmx;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.config.SarParameters;
import org.opendedup.sar.sdfs.jmx.SarAdministration.Way;
import org.opendedup.sar.ssd.SsdLogStatistics;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.policy.TierSettings;

/** Implements {@link SsdLogMXBean} on {@link SarAdministration}. */
record SsdLogView(SarAdministration sar) implements SsdLogMXBean {
    @Override
    public String getState() {
        return SarFigures.spelling(status().state());
    }

    @Override
    public String getLocation() {
        return SarFigures.location(status());
    }

    @Override
    public String getReason() {
        return status().reason();
    }

    @Override
    public long getCapacityBytes() {
        return settings().capacityBytes();
    }

    @Override
    public void setCapacityBytes(long capacityBytes) {
        sar.set(SarParameters.CAPACITY_BYTES, capacityBytes);
    }

    @Override
    public long getUsedBytes() {
        return status().usedBytes();
    }

    @Override
    public long getLiveBytes() {
        return status().liveBytes();
    }

    @Override
    public long getSegments() {
        return figures().segments();
    }

    @Override
    public long getWrittenRecords() {
        return figures().writtenRecords();
    }

    @Override
    public long getWrittenBytes() {
        return figures().writtenBytes();
    }

    @Override
    public long getQueuedBytes() {
        return figures().queuedBytes();
    }

    @Override
    public long getQueuedChunks() {
        return figures().queuedChunks();
    }

    @Override
    public long getWriteFailures() {
        return figures().writeFailures();
    }

    @Override
    public long getReadFailures() {
        return figures().readFailures();
    }

    @Override
    public long getBadRecords() {
        return figures().badRecords();
    }

    @Override
    public long getReclaimedSegments() {
        return figures().reclaimedSegments();
    }

    @Override
    public long getCleanedSegments() {
        return figures().cleanedSegments();
    }

    @Override
    public long getCleaningBytes() {
        return figures().cleaningBytes();
    }

    @Override
    public void detach() {
        sar.run(() -> sar.detach(Way.JMX));
    }

    @Override
    public void attach(@Nullable String location) {
        if (location == null) {
            throw new IllegalArgumentException(
                    "the location is null; name a folder, or give an empty text for the volume file's");
        }
        sar.run(() -> sar.attach(Way.JMX, location.isEmpty() ? null : Path.of(location)));
    }

    private TierSettings settings() {
        return sar.status().settings();
    }

    private SsdTier.Status status() {
        return sar.status();
    }

    private SsdLogStatistics figures() {
        return sar.status().log();
    }
}
