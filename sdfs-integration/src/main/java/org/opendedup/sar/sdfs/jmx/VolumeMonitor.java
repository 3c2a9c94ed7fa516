package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.health.Finding;
import org.opendedup.sar.sdfs.health.HealthFacts;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.volume.SpaceUse;
import org.opendedup.sar.volume.VolumeStatistics;

/**
 * Reads the statistics of a volume from the engine. One sample serves all attributes that a console requests within a
 * short time.
 */
public final class VolumeMonitor implements VolumeMXBean {
    private static final long SAMPLE_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(200);

    private final String name;
    private final String mountPoint;
    private final VolumeSource source;
    private final HealthWatch<HealthFacts> health;
    private final long startedNanos = System.nanoTime();

    /** Guarded by this. */
    private @Nullable Figures figures;

    /** A sample of the engine's statistics at one moment. */
    private record Figures(
            VolumeStatistics statistics,
            SpaceUse space,
            HealthWatch.Judgement<HealthFacts> judgement,
            long takenNanos) {}

    /** @param health watches the same volume */
    public VolumeMonitor(String name, String mountPoint, VolumeSource source, HealthWatch<HealthFacts> health) {
        this.name = name;
        this.mountPoint = mountPoint;
        this.source = source;
        this.health = health;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public String getMountPoint() {
        return mountPoint;
    }

    @Override
    public long getPid() {
        return ProcessHandle.current().pid();
    }

    @Override
    public long getUptimeSeconds() {
        return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedNanos);
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
    public long getRssBytes() {
        return ProcessMemory.residentBytes();
    }

    @Override
    public String getHealth() {
        return figures().judgement().health().toString();
    }

    @Override
    public List<String> getFindings() {
        return figures().judgement().findings().stream().map(Finding::line).toList();
    }

    @Override
    public long getDamagedChunks() {
        return facts().condition().damagedChunks();
    }

    @Override
    public long getHealedChunks() {
        return facts().condition().healedChunks();
    }

    @Override
    public long getDamagedFrames() {
        return facts().condition().damagedFrames();
    }

    @Override
    public long getMissingContainers() {
        return facts().condition().missingContainers();
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
        return figures().judgement().facts();
    }

    private static double ratio(VolumeStatistics statistics) {
        return statistics.storedBytes() == 0 ? 1 : (double) statistics.logicalBytes() / statistics.storedBytes();
    }

    private VolumeStatistics statistics() {
        return figures().statistics();
    }

    private synchronized Figures figures() {
        Figures recent = figures;
        if (recent == null || System.nanoTime() - recent.takenNanos() > SAMPLE_NANOS_MAX) {
            try {
                recent = new Figures(source.statistics(), source.space(), health.judge(), System.nanoTime());
            } catch (IOException e) {
                throw new UncheckedIOException("the volume " + name + " cannot give its figures", e);
            }
            figures = recent;
        }
        return recent;
    }
}
