package org.opendedup.sar.sdfs.cli.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.index.SsdShare;
import org.opendedup.sar.sdfs.health.FastTierFacts;
import org.opendedup.sar.sdfs.health.HealthFacts;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.sdfs.health.RequestFailures;
import org.opendedup.sar.sdfs.health.SnapshotFacts;
import org.opendedup.sar.sdfs.health.StoreFacts;
import org.opendedup.sar.sdfs.jmx.ObjectStoreFigures;
import org.opendedup.sar.sdfs.jmx.SarFigures;
import org.opendedup.sar.sdfs.jmx.StoreFigures;
import org.opendedup.sar.sdfs.wear.WearFigures;
import org.opendedup.sar.volume.engine.VolumeCondition;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.store.DeviceCondition;

/**
 * Whether a mounted volume is well, as {@code sdfscli VOLUME status} shows it. The names are stable. What only files
 * have is null of a volume of chunks.
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record StatusReport(
        String name,
        String health,
        @JsonUnwrapped DaemonState daemon,
        long uptimeSeconds,
        List<Finding> findings,
        Space space,
        List<DeviceCondition> devices,
        Map<String, Object> collection,
        Map<String, Object> scrub,
        @Nullable Snapshots snapshots,
        Ssd ssd,
        @Nullable FastTier fastTier,
        @Nullable ObjectStore objectStore,
        Index index,
        Errors errors,
        @Nullable String logFile) {
    /** In place of a health: the volume is not mounted, or is being opened or closed. */
    public static final String UNKNOWN = "unknown";

    /** See {@link org.opendedup.sar.sdfs.health.Finding}. */
    public record Finding(String id, String severity, String what, String remedy, String command) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Space(
            @Nullable Long capacityBytes,
            @Nullable Long freeBytes,
            @Nullable Long availableBytes,
            long deviceFreeBytes,
            long storedBytes,
            long reclaimableBytes) {}

    /** Times are empty if there is no snapshot; {@code beingFreed} counts deleted ones. */
    public record Snapshots(int count, String oldest, String newest, int beingFreed, boolean isReplica) {}

    /**
     * @param ssdIndexBytes bytes that the index has of it; 0 if it is not shared
     * @param wear what was written to it, and how worn it is; null if that is not watched
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Ssd(
            String state,
            String reason,
            long ssdUsedBytes,
            long ssdCapacityBytes,
            long ssdIndexBytes,
            @Nullable WearFigures wear) {}

    public record FastTier(
            String mode,
            boolean available,
            long rawFiles,
            long changedFiles,
            long rawUsedBytes,
            long rawCapacityBytes,
            long lostFiles) {}

    /** See {@link ObjectStoreFigures}. */
    public record ObjectStore(
            String address,
            String durability,
            long missingBytes,
            double missingSeconds,
            String breaker,
            String failure,
            double requestsCost,
            double monthCost,
            long readers,
            double readingSeconds) {
        static ObjectStore of(ObjectStoreFigures store) {
            return new ObjectStore(
                    store.address(),
                    store.durability(),
                    store.missingBytes(),
                    store.missingSeconds(),
                    store.requests().breaker(),
                    store.failure(),
                    store.requestsCost(),
                    store.monthCost(),
                    store.packs().readers(),
                    store.readingSeconds());
        }
    }

    public record Index(boolean usable, boolean updating, boolean complete, long examinedContainers, long containers) {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Errors(
            long damagedChunks,
            long healedChunks,
            long damagedFrames,
            long missingContainers,
            @Nullable Long failedReads,
            @Nullable Long failedWrites,
            @Nullable Long failedSyncs,
            @Nullable Long refusedForSpace,
            @Nullable Long loggedWarnings,
            @Nullable Long loggedErrors) {}

    /**
     * Returns the report.
     *
     * @param daemon where the volume is mounted, by which process
     */
    public static StatusReport of(
            DaemonState daemon,
            HealthWatch<HealthFacts> health,
            StoreFigures figures,
            CareJobs jobs,
            HotChunks.Status ssd,
            WearFigures wear)
            throws IOException {
        HealthWatch.Judgement<HealthFacts> judgement = health.judge();
        HealthFacts facts = judgement.facts();
        SpaceUse space = facts.space();
        return new StatusReport(
                facts.volume(),
                judgement.health().toString(),
                daemon,
                figures.uptimeSeconds(),
                findings(judgement),
                new Space(
                        space.capacityBytes(),
                        space.freeBytes(),
                        space.availableBytes(),
                        space.deviceFreeBytes(),
                        figures.storedBytes(),
                        figures.reclaimableBytes()),
                facts.condition().devices(),
                GcReport.of(jobs.collections(), jobs.collectionTimes()),
                ScrubReport.of(jobs.scrubs(), jobs.scrubTimes()),
                snapshots(facts.snapshots()),
                ssd(ssd, facts.condition().index().use().share(), wear),
                fastTier(facts.fastTier()),
                objectStore(facts, figures),
                index(facts.condition().index(), figures),
                errors(facts.condition(), facts.failures(), facts.loggedWarnings(), facts.loggedErrors()),
                facts.log().toString());
    }

    /**
     * Returns the report about a volume of OpenDedup SDFS with the plugin, without what only files have.
     *
     * @param name of the volume
     * @param daemon by which process it is mounted
     */
    public static StatusReport ofChunks(
            String name,
            DaemonState daemon,
            HealthWatch<StoreFacts> health,
            StoreFigures figures,
            CareJobs jobs,
            HotChunks.Status ssd)
            throws IOException {
        HealthWatch.Judgement<StoreFacts> judgement = health.judge();
        VolumeCondition condition = judgement.facts().condition();
        return new StatusReport(
                name,
                judgement.health().toString(),
                daemon,
                figures.uptimeSeconds(),
                findings(judgement),
                new Space(
                        null, null, null, figures.deviceFreeBytes(), figures.storedBytes(), figures.reclaimableBytes()),
                condition.devices(),
                GcReport.of(jobs.collections(), jobs.collectionTimes()),
                ScrubReport.of(jobs.scrubs(), jobs.scrubTimes()),
                null,
                ssd(ssd, condition.index().use().share(), null),
                null,
                null,
                index(condition.index(), figures),
                errors(condition, null, null, null),
                null);
    }

    private static List<Finding> findings(HealthWatch.Judgement<?> judgement) {
        return judgement.findings().stream()
                .map(found -> new Finding(
                        found.id(), found.severity().toString(), found.what(), found.remedy(), found.command()))
                .toList();
    }

    private static Snapshots snapshots(SnapshotFacts facts) {
        boolean hasNone = facts.count() == 0;
        return new Snapshots(
                facts.count(),
                hasNone ? "" : JobReport.time(Instant.ofEpochMilli(facts.oldestMs())),
                hasNone ? "" : JobReport.time(Instant.ofEpochMilli(facts.newestMs())),
                facts.beingFreed(),
                facts.isReplica());
    }

    private static Ssd ssd(HotChunks.Status status, SsdShare share, @Nullable WearFigures wear) {
        return new Ssd(
                SarFigures.spelling(status.state()),
                Printable.line(status.reason()),
                status.usedBytes(),
                status.settings().capacityBytes(),
                share.indexBytes(),
                wear);
    }

    private static FastTier fastTier(FastTierFacts facts) {
        return new FastTier(
                facts.summary().settings().placement().toString(),
                facts.summary().absent() == null && facts.summary().hanging() == null,
                facts.summary().files(),
                facts.summary().changedFiles(),
                facts.summary().usedBytes(),
                facts.summary().settings().capacityBytes(),
                facts.lostFiles());
    }

    private static @Nullable ObjectStore objectStore(HealthFacts facts, StoreFigures figures) {
        if (facts.remote() == null) {
            return null;
        }
        return ObjectStore.of(ObjectStoreFigures.of(facts.remote(), figures.storedBytes()));
    }

    private static Index index(VolumeCondition.Index index, StoreFigures figures) {
        return new Index(index.usable(), index.updating(), index.complete(), index.examined(), figures.containers());
    }

    private static Errors errors(
            VolumeCondition condition,
            RequestFailures.@Nullable Counts failures,
            @Nullable Long loggedWarnings,
            @Nullable Long loggedErrors) {
        return new Errors(
                condition.damagedChunks(),
                condition.healedChunks(),
                condition.damagedFrames(),
                condition.missingContainers(),
                failures == null ? null : failures.reads(),
                failures == null ? null : failures.writes(),
                failures == null ? null : failures.syncs(),
                failures == null ? null : failures.noSpace(),
                loggedWarnings,
                loggedErrors);
    }
}
