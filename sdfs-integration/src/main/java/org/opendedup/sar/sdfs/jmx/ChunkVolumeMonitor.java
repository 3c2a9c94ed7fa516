package org.opendedup.sar.sdfs.jmx;

import java.util.concurrent.TimeUnit;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.sdfs.health.StoreFacts;
import org.opendedup.sar.volume.ChunkMaintenance;
import org.opendedup.sar.volume.ChunkVolumeStatistics;
import org.opendedup.sar.volume.VolumeCondition;

/** Reads the figures of a volume of chunks from the engine. */
public final class ChunkVolumeMonitor extends StoreMonitor<ChunkVolumeMonitor.Figures> implements ChunkVolumeMXBean {
    private static final long SAMPLE_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(500);

    private final Source source;
    private final HealthWatch<StoreFacts> health;

    /** An open volume of chunks; {@link org.opendedup.sar.volume.ChunkVolume} has both methods. */
    public interface Source {
        ChunkVolumeStatistics statistics();

        ChunkMaintenance maintenance();
    }

    /** A sample. */
    record Figures(
            ChunkVolumeStatistics statistics,
            long deviceFreeBytes,
            long reservedBytes,
            HealthWatch.Judgement<StoreFacts> judgement) {}

    /** @param health watches the same volume */
    public ChunkVolumeMonitor(String name, Source source, HealthWatch<StoreFacts> health) {
        super(name, SAMPLE_NANOS_MAX);
        this.source = source;
        this.health = health;
    }

    @Override
    Figures sample() {
        return Beans.call(() -> new Figures(
                source.statistics(),
                source.maintenance().deviceFreeBytes(),
                source.maintenance().reservedBytes(),
                health.judge()));
    }

    @Override
    HealthWatch.Judgement<StoreFacts> judgement() {
        return figures().judgement();
    }

    private ChunkVolumeStatistics statistics() {
        return figures().statistics();
    }

    @Override
    VolumeCondition condition() {
        return judgement().facts().condition();
    }

    @Override
    public boolean resume() {
        return Beans.call(() -> source.maintenance().resume());
    }

    @Override
    public long getDeviceFreeBytes() {
        return figures().deviceFreeBytes();
    }

    @Override
    public long getUniqueBytes() {
        return statistics().chunkBytes() - statistics().garbageBytes();
    }

    @Override
    public long getGarbageBytes() {
        return statistics().garbageBytes();
    }

    @Override
    public long getStoredBytes() {
        return statistics().containerBytes();
    }

    @Override
    public long getReclaimableBytes() {
        return statistics().reclaimableBytes();
    }

    @Override
    public long getReservedBytes() {
        return figures().reservedBytes();
    }

    @Override
    public long getChunks() {
        return statistics().chunks() - statistics().garbageChunks();
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
    public long getReadBytes() {
        return statistics().readBytes();
    }

    @Override
    public long getWrittenBytes() {
        return statistics().storedBytes() + statistics().duplicateBytes();
    }

    @Override
    public long getDuplicateBytes() {
        return statistics().duplicateBytes();
    }

    @Override
    public long getDiskReads() {
        return statistics().disk().reads();
    }

    @Override
    public long getDiskReadBytes() {
        return statistics().disk().bytes();
    }

    @Override
    public long getCacheHits() {
        return statistics().disk().cacheHits();
    }

    @Override
    public long getCacheMisses() {
        return statistics().disk().cacheMisses();
    }

    @Override
    public long getCommits() {
        return statistics().commits();
    }

    @Override
    public long getMemoryBudgetBytes() {
        return statistics().memoryBudgetBytes();
    }
}
