package org.opendedup.sar.sdfs.health;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.index.IndexUse;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.metadata.remote.Promise;
import org.opendedup.sar.metadata.remote.ShippingStatistics;
import org.opendedup.sar.objects.StorePrices;
import org.opendedup.sar.objects.reliable.ObjectStoreStatistics;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.remote.PackStatistics;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.config.RemoteSettings;
import org.opendedup.sar.volume.engine.VolumeCondition;
import org.opendedup.sar.volume.engine.VolumeCondition.Index;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.raw.FastTier;
import org.opendedup.sar.volume.store.DeviceCondition;
import org.opendedup.sar.volume.store.RemoteStatistics;

/** Facts of a volume that is well, to be changed by tests. */
public final class Facts {
    static final Instant NOW = Instant.parse("2026-05-01T12:00:00Z");

    public @Nullable String stopped;
    public boolean resumable = true;
    public @Nullable String shortage;
    public DeviceCondition device = new DeviceCondition("/data", List.of("containers"), 50L << 30, 100L << 30, 0);
    public long damagedChunks;
    public long unmarkedFrames;
    public long missingContainers;
    public boolean restored;
    public Index index = new Index(true, false, true, 9, 9, IndexUse.UNKNOWN);
    public SpaceUse space = new SpaceUse(100L << 30, 60L << 30, 50L << 30, 50L << 30, 7);
    public SsdState ssd = SsdState.NONE;
    public boolean ssdDetachedOnRequest;
    public FastTier.Summary fastTier = new FastTier.Summary(RawSettings.NONE, "the volume has none", null, 0, 0, 0);
    public long lostFiles;
    public RequestFailures.Counts failures = RequestFailures.Counts.NONE;
    public @Nullable String collectionFailure;
    public @Nullable Instant collectionDue;
    public ScrubFacts scrub = new ScrubFacts(true, false, NOW.minus(Duration.ofDays(30)), ScrubTotals.NONE, null);
    public MetadataBackups.Condition backups = MetadataBackups.Condition.WELL;
    public @Nullable Instant snapshotDue;
    public @Nullable RemoteStatistics remote;
    public @Nullable String lostAtLastEnd;
    public List<String> keyHeaderFaults = List.of();

    /**
     * Returns the figures of an object store that lacks 3 MiB.
     *
     * @param missingMs age of what it lacks
     * @param silentSeconds for how long it has not answered
     */
    public static RemoteStatistics store(long missingMs, long silentSeconds, @Nullable String failure) {
        StorePrices prices = StorePrices.parse("0.023,0.005,0.0004,0.09,0");
        return new RemoteStatistics(
                new RemoteSettings("s3://bucket/pool0", Promise.LOCAL, 1 << 30, prices),
                new PackStatistics(2 << 20, missingMs, 0, 0, 0, 2, 1, 3, 60, 8, "measured"),
                new ShippingStatistics(1 << 20, 5, 0, 0, 0, 0, 0),
                new ObjectStoreStatistics(
                        2000,
                        0,
                        1000,
                        0,
                        0,
                        0,
                        0,
                        0,
                        0,
                        0,
                        1_000_000_000,
                        3.5,
                        2.5,
                        silentSeconds > 0 ? "open" : "closed",
                        silentSeconds,
                        0),
                failure,
                null);
    }

    /** Returns the figures of a mount that reads a volume for two hours. */
    public static RemoteStatistics reading(boolean isLost) {
        RemoteStatistics own = store(0, 0, null);
        return new RemoteStatistics(
                own.settings(),
                own.packs(),
                own.metadata(),
                own.requests(),
                null,
                new RemoteStatistics.Reading(7_200_000, isLost));
    }

    public HealthFacts facts() {
        var store = new StoreFacts(
                "pool0",
                Path.of("/data"),
                "/data:/more",
                new VolumeCondition(
                        stopped,
                        resumable,
                        shortage,
                        List.of(device),
                        damagedChunks,
                        0,
                        0,
                        unmarkedFrames,
                        missingContainers,
                        restored,
                        index),
                ssd,
                "the reason",
                ssdDetachedOnRequest,
                collectionFailure,
                collectionDue,
                scrub,
                backups,
                keyHeaderFaults,
                NOW);
        return new HealthFacts(
                store,
                Path.of("/base/log/pool0.log"),
                Path.of("/hash db"),
                space,
                new FastTierFacts(fastTier, lostFiles),
                new SnapshotFacts(0, 0, 0, 0, false, snapshotDue),
                remote,
                failures,
                lostAtLastEnd,
                2,
                1);
    }
}
