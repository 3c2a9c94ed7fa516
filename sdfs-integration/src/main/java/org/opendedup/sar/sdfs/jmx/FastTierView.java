package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.volume.FastTier;

/**
 * Implements {@link FastTierMXBean} on a {@link FastTierSource}. One look at the raw files serves all attributes that a
 * console requests within a short time.
 */
public final class FastTierView implements FastTierMXBean {
    private static final long SAMPLE_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

    private final FastTierSource source;

    /** Guarded by this. */
    private FastTier.@Nullable Status sample;

    /** Guarded by this. */
    private long takenNanos;

    public FastTierView(FastTierSource source) {
        this.source = source;
    }

    private synchronized FastTier.Status status() {
        FastTier.Status recent = sample;
        if (recent == null || System.nanoTime() - takenNanos > SAMPLE_NANOS_MAX) {
            try {
                recent = source.status();
            } catch (IOException e) {
                throw new UncheckedIOException("the raw files cannot be examined", e);
            }
            sample = recent;
            takenNanos = System.nanoTime();
        }
        return recent;
    }

    private RawSettings settings() {
        return source.summary().settings();
    }

    @Override
    public String getMode() {
        return settings().placement().toString();
    }

    @Override
    public String getAbsent() {
        FastTier.Summary summary = source.summary();
        boolean hasNone = !summary.settings().isEnabled() && summary.files() == 0;
        return hasNone ? "" : Printable.line(Objects.toString(summary.absent(), ""));
    }

    @Override
    public String getHanging() {
        return Objects.toString(source.summary().hanging(), "");
    }

    @Override
    public long getRawCapacityBytes() {
        return settings().capacityBytes();
    }

    @Override
    public long getRawUsedBytes() {
        return status().usedBytes();
    }

    @Override
    public long getRawFiles() {
        return status().files();
    }

    @Override
    public long getOnlyThereFiles() {
        return status().onlyThereFiles();
    }

    @Override
    public long getOnlyThereBytes() {
        return status().onlyThereBytes();
    }

    @Override
    public long getPinnedFiles() {
        return status().pinned();
    }

    @Override
    public long getRawFilesInUse() {
        return status().inUse();
    }

    @Override
    public boolean isRoomForNewFiles() {
        return status().room();
    }

    @Override
    public int getHighPercent() {
        return settings().highPercent();
    }

    @Override
    public int getLowPercent() {
        return settings().lowPercent();
    }

    @Override
    public int getJournalSeconds() {
        return settings().copyAfterS();
    }

    @Override
    public String getMigrationPolicy() {
        return settings().rule().toString();
    }

    @Override
    public long getCopiedFiles() {
        return status().copiedFiles();
    }

    @Override
    public long getCopiedBytes() {
        return status().copiedBytes();
    }

    @Override
    public long getAheadFiles() {
        return status().aheadFiles();
    }

    @Override
    public long getAheadBytes() {
        return status().aheadBytes();
    }

    @Override
    public long getMigratedFiles() {
        return status().migratedFiles();
    }

    @Override
    public long getMigratedBytes() {
        return status().migratedBytes();
    }

    @Override
    public long getLostFiles() {
        try {
            return source.lostFiles();
        } catch (IOException e) {
            throw new UncheckedIOException("the raw files cannot be examined", e);
        }
    }
}
