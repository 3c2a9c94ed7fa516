package org.opendedup.sar.sdfs.cli.report;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.index.SsdShare;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.health.FastTierFacts;
import org.opendedup.sar.sdfs.health.Finding;
import org.opendedup.sar.sdfs.health.HealthFacts;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.sdfs.health.RequestFailures;
import org.opendedup.sar.sdfs.health.StoreFacts;
import org.opendedup.sar.sdfs.jmx.SarFigures;
import org.opendedup.sar.sdfs.jmx.StoreFigures;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.scrub.Scrubs;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.volume.engine.VolumeCondition;
import org.opendedup.sar.volume.store.DeviceCondition;

/** Reports whether a mounted volume is well, as {@code sdfscli VOLUME status} shows it. The keys are stable. */
public final class StatusReport {
    /** In place of a health: the volume is not mounted, or is being opened or closed. */
    public static final String UNKNOWN = "unknown";

    private StatusReport() {}

    /**
     * Returns the report.
     *
     * @param state the daemon's state: where the volume is mounted, by which process
     */
    public static Map<String, Object> of(
            Map<String, Object> state,
            HealthWatch<HealthFacts> health,
            StoreFigures figures,
            GarbageCollections collections,
            StartTimes timer,
            Scrubs scrubs,
            StartTimes scrubTimer,
            SsdTier.Status ssd)
            throws IOException {
        HealthWatch.Judgement<HealthFacts> judgement = health.judge();
        HealthFacts facts = judgement.facts();
        Map<String, Object> report = judgement(facts.volume(), state, judgement, figures);
        report.put("space", space(facts, figures));
        report.put("devices", devices(facts.condition()));
        report.put("collection", GcReport.of(collections, timer));
        report.put("scrub", ScrubReport.of(scrubs, scrubTimer));
        report.put("ssd", ssd(ssd, facts.condition().index().use().share()));
        report.put("fastTier", fastTier(facts.fastTier()));
        report.put("index", index(facts.condition().index(), figures));
        report.put("errors", errors(facts));
        report.put("logFile", facts.log().toString());
        return report;
    }

    /**
     * Returns the report about a volume of OpenDedup SDFS with the plugin, without what only files have.
     *
     * @param name of the volume
     * @param state by which process it is mounted
     */
    public static Map<String, Object> ofChunks(
            String name,
            Map<String, Object> state,
            HealthWatch<StoreFacts> health,
            StoreFigures figures,
            GarbageCollections collections,
            StartTimes timer,
            Scrubs scrubs,
            StartTimes scrubTimer,
            SsdTier.Status ssd)
            throws IOException {
        HealthWatch.Judgement<StoreFacts> judgement = health.judge();
        VolumeCondition condition = judgement.facts().condition();
        Map<String, Object> report = judgement(name, state, judgement, figures);
        report.put("space", space(figures));
        report.put("devices", devices(condition));
        report.put("collection", GcReport.of(collections, timer));
        report.put("scrub", ScrubReport.of(scrubs, scrubTimer));
        report.put("ssd", ssd(ssd, condition.index().use().share()));
        report.put("index", index(condition.index(), figures));
        report.put("errors", errors(condition));
        return report;
    }

    private static Map<String, Object> judgement(
            String name, Map<String, Object> state, HealthWatch.Judgement<?> judgement, StoreFigures figures) {
        var report = new LinkedHashMap<String, Object>();
        report.put("name", name);
        report.put("health", judgement.health().toString());
        report.putAll(state);
        report.put("uptimeSeconds", figures.uptimeSeconds());
        report.put(
                "findings",
                judgement.findings().stream().map(StatusReport::finding).toList());
        return report;
    }

    private static Map<String, Object> finding(Finding finding) {
        var report = new LinkedHashMap<String, Object>();
        report.put("id", finding.id());
        report.put("severity", finding.severity().toString());
        report.put("what", finding.what());
        report.put("remedy", finding.remedy());
        report.put("command", finding.command());
        return report;
    }

    private static Map<String, Object> space(HealthFacts facts, StoreFigures figures) {
        var report = new LinkedHashMap<String, Object>();
        report.put("capacityBytes", facts.space().capacityBytes());
        report.put("freeBytes", facts.space().freeBytes());
        report.put("availableBytes", facts.space().availableBytes());
        report.put("deviceFreeBytes", facts.space().deviceFreeBytes());
        report.put("storedBytes", figures.storedBytes());
        report.put("reclaimableBytes", figures.reclaimableBytes());
        return report;
    }

    private static Map<String, Object> space(StoreFigures figures) {
        var report = new LinkedHashMap<String, Object>();
        report.put("deviceFreeBytes", figures.deviceFreeBytes());
        report.put("storedBytes", figures.storedBytes());
        report.put("reclaimableBytes", figures.reclaimableBytes());
        return report;
    }

    private static List<Map<String, Object>> devices(VolumeCondition condition) {
        return condition.devices().stream().map(StatusReport::device).toList();
    }

    private static Map<String, Object> device(DeviceCondition device) {
        var report = new LinkedHashMap<String, Object>();
        report.put("folder", device.folder());
        report.put("parts", device.parts());
        report.put("usableBytes", device.usableBytes());
        report.put("totalBytes", device.totalBytes());
        report.put("missingBallastBytes", device.missingBallastBytes());
        return report;
    }

    /** @param share how the SSD is shared with the index; zeros if it is not */
    private static Map<String, Object> ssd(SsdTier.Status status, SsdShare share) {
        var report = new LinkedHashMap<String, Object>();
        report.put("state", SarFigures.spelling(status.state()));
        report.put("reason", Printable.line(status.reason()));
        report.put("ssdUsedBytes", status.usedBytes());
        report.put("ssdCapacityBytes", status.settings().capacityBytes());
        report.put("ssdIndexBytes", share.indexBytes());
        return report;
    }

    private static Map<String, Object> fastTier(FastTierFacts facts) {
        var report = new LinkedHashMap<String, Object>();
        report.put("mode", facts.summary().settings().placement().toString());
        report.put(
                "available", facts.summary().absent() == null && facts.summary().hanging() == null);
        report.put("rawFiles", facts.summary().files());
        report.put("rawUsedBytes", facts.summary().usedBytes());
        report.put("rawCapacityBytes", facts.summary().settings().capacityBytes());
        report.put("lostFiles", facts.lostFiles());
        return report;
    }

    private static Map<String, Object> index(VolumeCondition.Index index, StoreFigures figures) {
        var report = new LinkedHashMap<String, Object>();
        report.put("usable", index.usable());
        report.put("updating", index.updating());
        report.put("complete", index.complete());
        report.put("examinedContainers", index.examined());
        report.put("containers", figures.containers());
        return report;
    }

    private static Map<String, Object> errors(HealthFacts facts) {
        RequestFailures.Counts failures = facts.failures();
        Map<String, Object> report = errors(facts.condition());
        report.put("failedReads", failures.reads());
        report.put("failedWrites", failures.writes());
        report.put("failedSyncs", failures.syncs());
        report.put("refusedForSpace", failures.noSpace());
        report.put("loggedWarnings", facts.loggedWarnings());
        report.put("loggedErrors", facts.loggedErrors());
        return report;
    }

    private static Map<String, Object> errors(VolumeCondition condition) {
        var report = new LinkedHashMap<String, Object>();
        report.put("damagedChunks", condition.damagedChunks());
        report.put("healedChunks", condition.healedChunks());
        report.put("damagedFrames", condition.damagedFrames());
        report.put("missingContainers", condition.missingContainers());
        return report;
    }
}
