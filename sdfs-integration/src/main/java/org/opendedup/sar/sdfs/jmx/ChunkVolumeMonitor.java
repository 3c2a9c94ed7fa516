package org.opendedup.sar.sdfs.jmx;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.health.Finding;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.sdfs.health.StoreFacts;
import org.opendedup.sar.volume.ChunkMaintenance;
import org.opendedup.sar.volume.ChunkVolumeStatistics;
import org.opendedup.sar.volume.VolumeCondition;

/**
 * Reads the figures of a volume of chunks from the engine. One sample serves all attributes that a console requests
 * within a short time.
 */
public final class ChunkVolumeMonitor implements ChunkVolumeMXBean {
    private static final long SAMPLE_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(500);

    private final String name;
    private final Source source;
    private final HealthWatch<StoreFacts> health;
    private final long startedNanos = System.nanoTime();
    /** Guarded by this. */
    private @Nullable Figures figures;

    /** An open volume of chunks; {@link org.opendedup.sar.volume.ChunkVolume} has both methods. */
    public interface Source {
        ChunkVolumeStatistics statistics();

        ChunkMaintenance maintenance();
    }

    private record Figures(
            ChunkVolumeStatistics statistics,
            long deviceFreeBytes,
            long reservedBytes,
            HealthWatch.Judgement<StoreFacts> judgement,
            long takenNanos) {}

    /** @param health watches the same volume */
    public ChunkVolumeMonitor(String name, Source source, HealthWatch<StoreFacts> health) {
        this.name = name;
        this.source = source;
        this.health = health;
    }

    private synchronized Figures figures() {
        Figures recent = figures;
        if (recent == null || System.nanoTime() - recent.takenNanos() > SAMPLE_NANOS_MAX) {
            recent = Beans.call(() -> new Figures(
                    source.statistics(),
                    source.maintenance().deviceFreeBytes(),
                    source.maintenance().reservedBytes(),
                    health.judge(),
                    System.nanoTime()));
            figures = recent;
        }
        return recent;
    }

    private ChunkVolumeStatistics statistics() {
        return figures().statistics();
    }

    private VolumeCondition condition() {
        return figures().judgement().facts().condition();
    }

    @Override
    public boolean resume() {
        return Beans.call(() -> source.maintenance().resume());
    }

    @Override
    public String getName() {
        return name;
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
        return condition().damagedChunks();
    }

    @Override
    public long getHealedChunks() {
        return condition().healedChunks();
    }

    @Override
    public long getDamagedFrames() {
        return condition().damagedFrames();
    }

    @Override
    public long getMissingContainers() {
        return condition().missingContainers();
    }
}
