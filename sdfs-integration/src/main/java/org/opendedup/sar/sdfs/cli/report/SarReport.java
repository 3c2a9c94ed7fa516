package org.opendedup.sar.sdfs.cli.report;

import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.sdfs.config.SarParameters;
import org.opendedup.sar.sdfs.jmx.SarFigures;
import org.opendedup.sar.ssd.SsdLogStatistics;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.demotion.DemotionStatistics;
import org.opendedup.sar.tier.distributor.DistributorStatistics;
import org.opendedup.sar.tier.distributor.Latency;
import org.opendedup.sar.tier.promotion.PromotionStatistics;

/** Reports everything that {@code sar status} shows, in sections. The keys are stable. */
public final class SarReport {
    private SarReport() {}

    public static Map<String, Object> of(SsdTier.Status status) {
        var report = new LinkedHashMap<String, Object>();
        report.put("state", SarFigures.spelling(status.state()));
        report.put("reason", status.reason());
        report.put("location", SarFigures.location(status));
        report.put("parameters", SarParameters.of(status.settings()));
        report.put("space", space(status));
        report.put("memory", memory(status));
        report.put("promotion", promotion(status.promotion()));
        report.put("demotion", demotion(status.demotion()));
        report.put("reads", reads(status.distributor()));
        report.put("log", log(status.log()));
        return report;
    }

    private static Map<String, Object> space(SsdTier.Status status) {
        return section(
                "ssdCapacityBytes", status.settings().capacityBytes(),
                "ssdUsedBytes", status.usedBytes(),
                "ssdLiveBytes", status.liveBytes());
    }

    private static Map<String, Object> memory(SsdTier.Status status) {
        return section(
                "mapTableEntries", status.mapTableEntries(),
                "mapTableMaxEntries", status.mapTableMaxEntries(),
                "mapTableHeapBytes", status.mapTableHeapBytes(),
                "mapTableBytesPerEntry", SarFigures.bytesPerEntry(status),
                "lruItems", status.lruItems(),
                "lruHits", status.lruHits(),
                "lruHeapBytes", status.lruHeapBytes());
    }

    private static Map<String, Object> promotion(PromotionStatistics promotion) {
        Map<String, Object> section = section(
                "offeredChunks", promotion.offered(),
                "promotedChunks", promotion.promoted(),
                "promotedBytes", promotion.bytes(),
                "byWrite", promotion.byWrite(),
                "byRead", promotion.byRead(),
                "byRecipe", promotion.byRecipe(),
                "queuedChunks", promotion.queued(),
                "rememberedChunks", promotion.remembered(),
                "refusedChunks", promotion.allRefused());
        promotion.refused().forEach((refusal, chunks) -> section.put(SarFigures.name(refusal), chunks));
        return section;
    }

    private static Map<String, Object> demotion(DemotionStatistics demotion) {
        return section(
                "demotedChunks", demotion.demoted(),
                "bySettings", demotion.bySettings(),
                "bySpace", demotion.bySpace(),
                "unreferenced", demotion.unreferenced(),
                "damaged", demotion.damaged(),
                "running", demotion.running(),
                "examined", demotion.examined(),
                "toExamine", demotion.toExamine());
    }

    private static Map<String, Object> reads(DistributorStatistics reads) {
        return section(
                "chunks", reads.chunks(),
                "unread", reads.unread(),
                "memoryHits", reads.memoryHits(),
                "ssdHits", reads.ssdHits(),
                "ssdBytes", reads.ssdBytes(),
                "ssdRequests", reads.ssdRequests(),
                "late", reads.late(),
                "homeReads", reads.homeReads(),
                "homeBytes", reads.homeBytes(),
                "ssdLatency", latency(reads.ssdLatency()),
                "homeLatency", latency(reads.homeLatency()));
    }

    private static Map<String, Object> latency(Latency latency) {
        return section(
                "reads", latency.reads(),
                "meanMicros", latency.meanMicros(),
                "p50Micros", latency.p50Micros(),
                "p95Micros", latency.p95Micros(),
                "p99Micros", latency.p99Micros(),
                "p999Micros", latency.p999Micros(),
                "maxMicros", latency.maxMicros());
    }

    private static Map<String, Object> log(SsdLogStatistics log) {
        return section(
                "segments", log.segments(),
                "writtenRecords", log.writtenRecords(),
                "writtenBytes", log.writtenBytes(),
                "queuedBytes", log.queuedBytes(),
                "queuedChunks", log.queuedChunks(),
                "writeFailures", log.writeFailures(),
                "readFailures", log.readFailures(),
                "badRecords", log.badRecords(),
                "reclaimedSegments", log.reclaimedSegments(),
                "cleanedSegments", log.cleanedSegments(),
                "cleaningBytes", log.cleaningBytes());
    }

    /** Makes a section from alternating names and values; keeps their order. */
    private static Map<String, Object> section(Object... namesAndValues) {
        var section = new LinkedHashMap<String, Object>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            section.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return section;
    }
}
