package org.opendedup.sar.sdfs.cli.report;

import java.io.IOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.scrub.ScrubRun;
import org.opendedup.sar.sdfs.scrub.Scrubs;

/** Reports scrubs as JSON. The keys are stable; those of what was found are the names of ScrubTotals. */
public final class ScrubReport {
    /** Whether nothing was found. */
    public static final String CLEAN = "clean";

    /** Number of the chunks of files that are known to be damaged, whoever found them; also in the figures. */
    public static final String DAMAGED_CHUNKS = "damagedChunks";

    private static final String BYTES = "bytes";

    private ScrubReport() {}

    /** Returns everything about the scrubs of a volume. */
    public static Map<String, Object> of(Scrubs scrubs, StartTimes timer) throws IOException {
        Optional<JobStatus<ScrubRun>> running = scrubs.running();
        Optional<ScrubRecord> stopped = running.isPresent() ? Optional.empty() : scrubs.unfinished();
        var report = new LinkedHashMap<String, Object>();
        report.put("running", running.isPresent());
        report.putAll(JobReport.pace(scrubs.pace()));
        report.putAll(JobReport.schedule(timer));
        report.put("current", running.map(status -> current(status, scrubs)).orElse(Map.of()));
        report.put("stopped", stopped.map(ScrubReport::of).orElse(Map.of()));
        report.put("last", scrubs.last().map(ScrubReport::of).orElse(Map.of()));
        report.put(
                "error",
                scrubs.latest().map(JobStatus::failure).map(ScrubReport::text).orElse(""));
        return report;
    }

    private static Map<String, Object> current(JobStatus<ScrubRun> status, Scrubs scrubs) {
        Map<String, Object> report = Json.values(JobReport.of(status));
        put(status, scrubs, report);
        return report;
    }

    /** Adds the progress and, when it has ended, the result of one run. */
    public static void put(JobStatus<ScrubRun> status, Scrubs scrubs, Map<String, Object> report) {
        ScrubRun run = Objects.requireNonNull(status.report());
        report.put("phase", status.stage());
        report.put("continued", run.continued());
        putTotals(report, run.totals());
        report.put("bytesResumed", run.bytesResumed());
        report.put("bytes", status.of());
        report.put("paused", scrubs.pace().isPaused());
    }

    /** Returns what the volume keeps about a scrub, complete or stopped. */
    private static Map<String, Object> of(ScrubRecord record) {
        var report = new LinkedHashMap<String, Object>();
        report.put("began", JobReport.time(Instant.ofEpochMilli(record.beganMs())));
        if (record.isComplete()) {
            report.put("ended", JobReport.time(Instant.ofEpochMilli(record.endedMs())));
        } else {
            report.put("held", record.held());
            report.put("phase", Json.word(record.next().phase()));
        }
        putTotals(report, record.totals());
        return report;
    }

    private static void putTotals(Map<String, Object> report, ScrubTotals totals) {
        report.putAll(Json.values(totals));
        report.remove(BYTES);
        report.put("bytesDone", totals.allBytes());
    }

    /** Returns the totals of a report. */
    static ScrubTotals totals(Map<String, Object> report) {
        var values = new LinkedHashMap<String, Object>(report);
        long ofSsd = Json.number(Json.object(report, "ssd"), BYTES);
        values.put(BYTES, Json.number(report, "bytesDone") - ofSsd);
        return Json.record(values, ScrubTotals.class);
    }

    private static String text(Throwable failure) {
        return Printable.line(FailureText.of(failure));
    }
}
