package org.opendedup.sar.sdfs.cli.report;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.sdfs.collect.Collected;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.StartTimes;

/** Reports garbage collections as JSON. The keys are stable; those of a result are the names of CollectionReport. */
public final class GcReport {
    /** Only of a dry run: estimated bytes that a collection would return. */
    static final String WOULD_RETURN = "wouldReturnBytes";

    /** What an arrangement before the collection did; the keys are the names of ArrangementReport. */
    static final String ARRANGEMENT = "arrangement";

    private GcReport() {}

    /** Returns everything about the collections of a volume. */
    public static Map<String, Object> of(GarbageCollections collections, StartTimes timer) {
        boolean diskFull = collections.isRunningByItself();
        Optional<JobStatus<Collected>> running = collections.running();
        var report = new LinkedHashMap<String, Object>();
        report.put("running", diskFull || running.isPresent());
        report.put("diskFull", diskFull);
        report.putAll(pace(collections));
        report.putAll(JobReport.schedule(timer));
        report.put("current", running.map(GcReport::of).orElse(Map.of()));
        report.put("last", collections.last().map(GcReport::of).orElse(Map.of()));
        return report;
    }

    public static Map<String, Object> pace(GarbageCollections collections) {
        Map<String, Object> pace = JobReport.pace(collections.pace());
        pace.put("recompress", collections.recompress().toString());
        pace.put("arrange", collections.isArranging());
        return pace;
    }

    private static Map<String, Object> of(JobStatus<Collected> status) {
        Map<String, Object> report = Json.values(JobReport.of(status));
        put(status, report);
        return report;
    }

    /** Adds the progress and, when it has ended, the result of one collection. */
    public static void put(JobStatus<Collected> status, Map<String, Object> report) {
        Collected did = Collected.of(status);
        report.put("dryRun", did.dryRun());
        report.put("stage", status.stage());
        report.put("bytesDone", status.done());
        report.put("bytes", status.of());
        report.put("returnedBytes", did.returnedBytes());
        ArrangementReport arrangement = did.arrangement();
        if (arrangement != null) {
            report.put(ARRANGEMENT, Json.values(arrangement));
        }
        CollectionReport result = did.report();
        if (result != null) {
            report.putAll(Json.values(result));
            if (did.dryRun()) {
                report.put(WOULD_RETURN, result.garbageBytes() - result.leftBytes());
            }
        }
    }
}
