package org.opendedup.sar.sdfs.cli.report;

import java.io.IOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.metadata.ScrubPhase;
import org.opendedup.sar.metadata.ScrubRecord;
import org.opendedup.sar.metadata.ScrubTotals;
import org.opendedup.sar.sdfs.cli.command.FailureText;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.scrub.ScrubStatus;
import org.opendedup.sar.sdfs.scrub.Scrubs;

/** Reports scrubs as JSON. The keys are stable; those of what was found are the names of ScrubTotals. */
public final class ScrubReport {
    /** Whether nothing was found. */
    public static final String CLEAN = "clean";

    /** Whether not all of a part was verified, because it was not in use. */
    private static final String PASSED_OVER = "passedOver";

    private ScrubReport() {}

    /** Returns everything about the scrubs of a volume. */
    public static Map<String, Object> of(Scrubs scrubs, StartTimes timer) throws IOException {
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
        report.put("phase", text(status.phase()));
        report.put("cause", status.cause().toString());
        report.put("continued", status.continued());
        report.put("began", JobReport.time(status.began()));
        Instant ended = status.ended();
        if (ended != null) {
            report.put("ended", JobReport.time(ended));
        }
        report.put("seconds", status.seconds());
        report.put("bytesDone", status.totals().allBytes());
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
            report.put("phase", text(record.next().phase()));
        }
        report.put("bytesDone", record.totals().allBytes());
        putTotals(report, record.totals());
        return report;
    }

    private static void putTotals(Map<String, Object> report, ScrubTotals totals) {
        report.put("containers", totals.containers());
        report.put("chunks", totals.chunks());
        report.put("damagedFrames", totals.damagedFrames());
        report.put("damagedContainers", totals.damagedContainers());
        report.put("contradictions", totals.contradictions());
        ScrubTotals.References references = totals.references();
        var compared = new LinkedHashMap<String, Object>();
        compared.put("wrong", references.wrong());
        compared.put("defects", references.defects());
        compared.put(PASSED_OVER, references.passedOver());
        report.put("references", compared);
        ScrubTotals.Ssd ssd = totals.ssd();
        var copies = new LinkedHashMap<String, Object>();
        copies.put("copies", ssd.copies());
        copies.put("bytes", ssd.bytes());
        copies.put("wrong", ssd.wrong());
        copies.put("leadingNowhere", ssd.leadingNowhere());
        copies.put(PASSED_OVER, ssd.passedOver());
        report.put("ssd", copies);
        ScrubTotals.Index index = totals.index();
        var samples = new LinkedHashMap<String, Object>();
        samples.put("entries", index.entries());
        samples.put("wrong", index.wrong());
        samples.put("stale", index.stale());
        samples.put("chunks", index.chunks());
        samples.put("notIndexed", index.notIndexed());
        samples.put(PASSED_OVER, index.passedOver());
        report.put("index", samples);
        report.put(CLEAN, totals.isClean());
    }

    /** Returns the totals of a report. */
    static ScrubTotals totals(Map<String, Object> report) {
        Map<String, Object> compared = Json.object(report, "references");
        var references = new ScrubTotals.References(
                Json.number(compared, "wrong"),
                Json.number(compared, "defects"),
                Boolean.TRUE.equals(compared.get(PASSED_OVER)));
        Map<String, Object> copies = Json.object(report, "ssd");
        Map<String, Object> samples = Json.object(report, "index");
        var ssd = new ScrubTotals.Ssd(
                Json.number(copies, "copies"),
                Json.number(copies, "bytes"),
                Json.number(copies, "wrong"),
                Json.number(copies, "leadingNowhere"),
                Boolean.TRUE.equals(copies.get(PASSED_OVER)));
        var index = new ScrubTotals.Index(
                Json.number(samples, "entries"),
                Json.number(samples, "wrong"),
                Json.number(samples, "stale"),
                Json.number(samples, "chunks"),
                Json.number(samples, "notIndexed"),
                Boolean.TRUE.equals(samples.get(PASSED_OVER)));
        return new ScrubTotals(
                Json.number(report, "containers"),
                Json.number(report, "bytesDone") - ssd.bytes(),
                Json.number(report, "chunks"),
                Json.number(report, "damagedFrames"),
                Json.number(report, "damagedContainers"),
                Json.number(report, "contradictions"),
                references,
                ssd,
                index);
    }

    private static String text(ScrubPhase phase) {
        return phase.name().toLowerCase(Locale.ROOT);
    }

    private static String text(Throwable failure) {
        return Printable.line(FailureText.of(failure));
    }
}
