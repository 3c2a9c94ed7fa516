package org.opendedup.sar.sdfs.jmx;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.health.Finding;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.volume.VolumeCondition;

/**
 * Reads the figures of an open volume, with or without files. One sample serves all attributes that a console requests
 * within a short time.
 *
 * @param <T> what a sample has
 */
abstract class StoreMonitor<T> implements ChunkFigures {
    private final String name;
    private final long maxAgeNanos;
    private final long startedNanos = System.nanoTime();
    /** Guarded by this, as is the next. */
    private @Nullable T figures;

    private long takenNanos;

    /** @param maxAgeNanos age up to which a sample is used */
    StoreMonitor(String name, long maxAgeNanos) {
        this.name = name;
        this.maxAgeNanos = maxAgeNanos;
    }

    /** Takes a sample. */
    abstract T sample();

    abstract HealthWatch.Judgement<?> judgement();

    abstract VolumeCondition condition();

    final synchronized T figures() {
        T recent = figures;
        if (recent == null || System.nanoTime() - takenNanos > maxAgeNanos) {
            recent = sample();
            figures = recent;
            takenNanos = System.nanoTime();
        }
        return recent;
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
    public long getRssBytes() {
        return ProcessMemory.residentBytes();
    }

    @Override
    public String getHealth() {
        return judgement().health().toString();
    }

    @Override
    public List<String> getFindings() {
        return judgement().findings().stream().map(Finding::line).toList();
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
