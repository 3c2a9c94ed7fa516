package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.sdfs.health.HealthFacts;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.volume.SpaceUse;
import org.opendedup.sar.volume.VolumeCondition;
import org.opendedup.sar.volume.VolumeStatistics;

/** Reads the statistics of a volume of files from the engine. */
public final class VolumeMonitor extends StoreMonitor<VolumeMonitor.Figures> implements VolumeMXBean {
    private static final long SAMPLE_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(200);

    private final String mountPoint;
    private final VolumeSource source;
    private final HealthWatch<HealthFacts> health;

    /** A sample of the engine's statistics at one moment. */
    record Figures(VolumeStatistics statistics, SpaceUse space, HealthWatch.Judgement<HealthFacts> judgement) {}

    /** @param health watches the same volume */
    public VolumeMonitor(String name, String mountPoint, VolumeSource source, HealthWatch<HealthFacts> health) {
        super(name, SAMPLE_NANOS_MAX);
        this.mountPoint = mountPoint;
        this.source = source;
        this.health = health;
    }

    @Override
    public String getMountPoint() {
        return mountPoint;
    }

    @Override
    public long getCapacityBytes() {
        return figures().space().capacityBytes();
    }

    @Override
    public long getFreeBytes() {
        return figures().space().freeBytes();
    }

    @Override
    public long getAvailableBytes() {
        return figures().space().availableBytes();
    }

    @Override
    public long getDeviceFreeBytes() {
        return figures().space().deviceFreeBytes();
    }

    @Override
    public long getLogicalBytes() {
        return statistics().logicalBytes();
    }

    @Override
    public long getUniqueBytes() {
        return statistics().uniqueBytes();
    }

    @Override
    public long getGarbageBytes() {
        return statistics().garbageBytes();
    }

    @Override
    public long getStoredBytes() {
        return statistics().storedBytes();
    }

    @Override
    public long getReclaimableBytes() {
        return statistics().reclaimableBytes();
    }

    @Override
    public long getStoredTwiceBytes() {
        return statistics().storedTwiceBytes();
    }

    @Override
    public long getIndexLogBytes() {
        return statistics().index().fastBytes();
    }

    @Override
    public long getDiskIndexBytes() {
        return statistics().index().disk().bytes();
    }

    @Override
    public long getSharedSsdCapacityBytes() {
        return statistics().index().share().capacityBytes();
    }

    @Override
    public long getSharedSsdIndexBytes() {
        return statistics().index().share().indexBytes();
    }

    @Override
    public long getSharedSsdMostCopiesBytes() {
        return statistics().index().share().mostOtherBytes();
    }

    @Override
    public long getDiskIndexChunks() {
        return statistics().index().disk().chunks();
    }

    @Override
    public long getReservedBytes() {
        return statistics().reservedBytes();
    }

    @Override
    public double getDedupRatio() {
        return statistics().dedupRatio();
    }

    @Override
    public double getReductionRatio() {
        return ratio(statistics());
    }

    @Override
    public long getChunks() {
        return statistics().chunks();
    }

    @Override
    public long getGarbageChunks() {
        return statistics().garbageChunks();
    }

    @Override
    public long getContainers() {
        return statistics().containers();
    }

    @Override
    public long getFiles() {
        return statistics().files();
    }

    @Override
    public long getInodesInUse() {
        return statistics().inodesInUse();
    }

    @Override
    public long getReadBytes() {
        return statistics().readBytes();
    }

    @Override
    public long getWrittenBytes() {
        return statistics().writtenBytes();
    }

    @Override
    public long getDuplicateBytes() {
        return statistics().duplicateBytes();
    }

    @Override
    public long getZeroBytes() {
        return statistics().zeroBytes();
    }

    @Override
    public long getDiskReads() {
        return statistics().diskReads();
    }

    @Override
    public long getDiskReadBytes() {
        return statistics().diskReadBytes();
    }

    @Override
    public long getCacheHits() {
        return statistics().cacheHits();
    }

    @Override
    public long getCacheMisses() {
        return statistics().cacheMisses();
    }

    @Override
    public long getDirtyBytes() {
        return statistics().dirtyBytes();
    }

    @Override
    public long getCommits() {
        return statistics().commits();
    }

    @Override
    public long getMemoryBudgetBytes() {
        return statistics().memoryBudgetBytes();
    }

    @Override
    public long getFailedReads() {
        return facts().failures().reads();
    }

    @Override
    public long getFailedWrites() {
        return facts().failures().writes();
    }

    @Override
    public long getFailedSyncs() {
        return facts().failures().syncs();
    }

    @Override
    public long getRefusedForSpace() {
        return facts().failures().noSpace();
    }

    @Override
    public long getLoggedWarnings() {
        return facts().loggedWarnings();
    }

    @Override
    public long getLoggedErrors() {
        return facts().loggedErrors();
    }

    private HealthFacts facts() {
        return judgement().facts();
    }

    private static double ratio(VolumeStatistics statistics) {
        return statistics.storedBytes() == 0 ? 1 : (double) statistics.logicalBytes() / statistics.storedBytes();
    }

    private VolumeStatistics statistics() {
        return figures().statistics();
    }

    @Override
    Figures sample() {
        try {
            return new Figures(source.statistics(), source.space(), health.judge());
        } catch (IOException e) {
            throw new UncheckedIOException("the volume " + getName() + " cannot give its figures", e);
        }
    }

    @Override
    HealthWatch.Judgement<HealthFacts> judgement() {
        return figures().judgement();
    }

    @Override
    VolumeCondition condition() {
        return facts().condition();
    }
}
