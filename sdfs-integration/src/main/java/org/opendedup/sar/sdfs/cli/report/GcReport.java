package org.opendedup.sar.sdfs.cli.report;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.command.FailureText;
import org.opendedup.sar.sdfs.collect.CollectionStatus;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
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
        Optional<CollectionStatus> running = collections.running();
        var report = new LinkedHashMap<String, Object>();
        report.put("running", diskFull || running.isPresent());
        report.put("diskFull", diskFull);
        report.putAll(pace(collections));
        report.putAll(JobReport.schedule(timer));
        report.put("current", running.map(status -> of(status, collections)).orElse(Map.of()));
        report.put("last", collections.last().map(GcReport::of).orElse(Map.of()));
        return report;
    }

    /** Returns a report as {@link #of(CollectionStatus)}, and whether collections are paused. */
    public static Map<String, Object> of(CollectionStatus status, GarbageCollections collections) {
        Map<String, Object> report = of(status);
        report.put("paused", collections.pace().isPaused());
        return report;
    }

    public static Map<String, Object> pace(GarbageCollections collections) {
        Map<String, Object> pace = JobReport.pace(collections.pace());
        pace.put("recompress", collections.recompress().toString());
        pace.put("arrange", collections.isArranging());
        return pace;
    }

    /** Returns the progress and, when it has ended, the result of one collection. */
    private static Map<String, Object> of(CollectionStatus status) {
        var report = new LinkedHashMap<String, Object>();
        report.put("number", status.number());
        report.put("state", status.state().toString());
        report.put("cause", status.cause().toString());
        report.put("dryRun", status.dryRun());
        report.put("began", JobReport.time(status.began()));
        Instant ended = status.ended();
        if (ended != null) {
            report.put("ended", JobReport.time(ended));
        }
        report.put("seconds", status.seconds());
        report.put("stage", status.stage().toString());
        report.put("bytesDone", status.bytesDone());
        report.put("bytes", status.bytes());
        report.put("returnedBytes", status.returnedBytes());
        ArrangementReport arrangement = status.arrangement();
        if (arrangement != null) {
            report.put(ARRANGEMENT, of(arrangement));
        }
        CollectionReport result = status.report();
        if (result != null) {
            putResult(report, result);
            if (status.dryRun()) {
                report.put(WOULD_RETURN, result.garbageBytes() - result.leftBytes());
            }
        }
        Throwable failure = status.failure();
        if (failure != null) {
            report.put("error", Printable.line(FailureText.of(failure)));
        }
        return report;
    }

    private static Map<String, Object> of(ArrangementReport arrangement) {
        var report = new LinkedHashMap<String, Object>();
        report.put("files", arrangement.files());
        report.put("bytes", arrangement.bytes());
        report.put("secondsBefore", arrangement.secondsBefore());
        report.put("secondsAfter", arrangement.secondsAfter());
        report.put("movedChunks", arrangement.movedChunks());
        report.put("movedBytes", arrangement.movedBytes());
        report.put("replacedReferences", arrangement.replacedReferences());
        report.put("skippedFiles", arrangement.skippedFiles());
        report.put("complete", arrangement.isComplete());
        return report;
    }

    private static void putResult(Map<String, Object> report, CollectionReport result) {
        report.put("containers", result.containers());
        report.put("storedBytes", result.storedBytes());
        report.put("garbageBytes", result.garbageBytes());
        report.put("victims", result.victims());
        report.put("victimBytes", result.victimBytes());
        report.put("recompressVictims", result.recompressVictims());
        report.put("recompressBytes", result.recompressBytes());
        report.put("removed", result.removed());
        report.put("rewritten", result.rewritten());
        report.put("recompressed", result.recompressed());
        report.put("incompressible", result.incompressible());
        report.put("copiedBytes", result.copiedBytes());
        report.put("recompressSavedBytes", result.recompressSavedBytes());
        report.put("returnedBytes", result.returnedBytes());
        report.put("strayBytes", result.strayBytes());
        report.put("keptContainers", result.keptContainers());
        report.put("leftBytes", result.leftBytes());
    }
}
