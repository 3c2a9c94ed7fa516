package org.opendedup.sar.sdfs.cli.report;

import java.io.IOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.metadata.ScrubRecord;
import org.opendedup.sar.scrub.ScrubTotals;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.jobs.ScheduleTimer;
import org.opendedup.sar.sdfs.scrub.ScrubStatus;
import org.opendedup.sar.sdfs.scrub.Scrubs;
import org.opendedup.sar.volume.VolumeScrub;

/** Reports scrubs as JSON. The keys are stable; those of what was found are the names of ScrubTotals. */
public final class ScrubReport {
    /** Whether nothing was found. */
    public static final String CLEAN = "clean";

    private ScrubReport() {}

    /** Returns everything about the scrubs of a volume. */
    public static Map<String, Object> of(Scrubs scrubs, ScheduleTimer timer) throws IOException {
        Optional<ScrubStatus> running = scrubs.running();
        Optional<ScrubRecord> stopped = running.isPresent() ? Optional.empty() : scrubs.unfinished();
        var report = new LinkedHashMap<String, Object>();
        report.put("running", running.isPresent());
        report.putAll(pace(scrubs));
        report.putAll(JobReport.schedule(timer));
        report.put("current", running.map(status -> of(status, scrubs)).orElse(Map.of()));
        report.put("stopped", stopped.map(ScrubReport::of).orElse(Map.of()));
        report.put("last", scrubs.last().map(ScrubReport::of).orElse(Map.of()));
        report.put(
                "error",
                scrubs.latest().map(ScrubStatus::failure).map(ScrubReport::text).orElse(""));
        return report;
    }

    public static Map<String, Object> pace(Scrubs scrubs) {
        return JobReport.pace(scrubs.pace());
    }

    /** Returns the progress and, when it has ended, the result of one run. */
    public static Map<String, Object> of(ScrubStatus status, Scrubs scrubs) {
        var report = new LinkedHashMap<String, Object>();
        report.put("number", status.number());
        report.put("state", status.state().toString());
        report.put("cause", status.cause().toString());
        report.put("continued", status.continued());
        report.put("began", JobReport.time(status.began()));
        Instant ended = status.ended();
        if (ended != null) {
            report.put("ended", JobReport.time(ended));
        }
        report.put("seconds", status.seconds());
        report.put("bytesDone", status.totals().bytes());
        report.put("bytesResumed", status.bytesResumed());
        report.put("bytes", status.bytes());
        putTotals(report, status.totals());
        Throwable failure = status.failure();
        if (failure != null) {
            report.put("error", text(failure));
        }
        report.put("paused", scrubs.pace().isPaused());
        return report;
    }

    /** Returns what the volume keeps about a scrub, complete or stopped. */
    private static Map<String, Object> of(ScrubRecord record) {
        var report = new LinkedHashMap<String, Object>();
        report.put("began", JobReport.time(Instant.ofEpochMilli(record.beganMs())));
        if (record.isComplete()) {
            report.put("ended", JobReport.time(Instant.ofEpochMilli(record.endedMs())));
        } else {
            report.put("held", record.held());
        }
        report.put("bytesDone", record.bytes());
        putTotals(report, VolumeScrub.totals(record));
        return report;
    }

    private static void putTotals(Map<String, Object> report, ScrubTotals totals) {
        report.put("containers", totals.containers());
        report.put("chunks", totals.chunks());
        report.put("damagedFrames", totals.damagedFrames());
        report.put("damagedContainers", totals.damagedContainers());
        report.put("contradictions", totals.contradictions());
        report.put(CLEAN, totals.isClean());
    }

    private static String text(Throwable failure) {
        return Printable.line(CommandRunner.messageOf(failure));
    }
}
