package org.opendedup.sar.sdfs.cli.report;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.PaceSetting;
import org.opendedup.sar.sdfs.jobs.StartTimes;

/** What the reports about jobs have in common. The keys are stable. */
public final class JobReport {
    private JobReport() {}

    /** Returns the number, the state, the cause, the times and the failure of a job. */
    public static Map<String, Object> of(JobStatus<?> status) {
        var report = new LinkedHashMap<String, Object>();
        report.put("number", status.number());
        report.put("state", status.state().toString());
        report.put("cause", status.cause().toString());
        report.put("began", time(status.began()));
        Instant ended = status.ended();
        if (ended != null) {
            report.put("ended", time(ended));
        }
        report.put("seconds", status.seconds());
        Throwable failure = status.failure();
        if (failure != null) {
            report.put("error", Printable.line(FailureText.of(failure)));
        }
        return report;
    }

    /** Adds the stage; the client shows it as a bar. */
    public static void putSteps(JobStatus<?> status, Map<String, Object> report) {
        report.put("step", status.stage());
        report.put("stepDone", status.done());
        report.put("stepOf", status.of());
        report.put("stepSeconds", status.stageSeconds());
    }

    public static Map<String, Object> pace(PaceSetting setting) {
        var pace = new LinkedHashMap<String, Object>();
        pace.put("paused", setting.isPaused());
        pace.put("bytesPerSecond", setting.bytesPerSecond());
        return pace;
    }

    static Map<String, Object> schedule(StartTimes timer) {
        var schedule = new LinkedHashMap<String, Object>();
        schedule.put("schedule", timer.rule());
        schedule.put("next", timer.nextText());
        return schedule;
    }

    static String time(Instant instant) {
        return DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(
                instant.atZone(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS));
    }

    /** Returns the words for {@link #pace}. */
    static String paceText(Map<String, Object> status) {
        long bound = Json.number(status, "bytesPerSecond");
        String rate = bound == PaceSetting.NO_BOUND ? "no bound" : "at most " + rate(bound);
        return Boolean.TRUE.equals(status.get("paused")) ? "paused; " + rate : rate;
    }

    private static String rate(long bytesPerSecond) {
        return String.format(Locale.ROOT, "%.3f", bytesPerSecond / 1e6).replaceFirst("\\.?0+$", "") + " MB/s";
    }

    /** Returns the words for {@link #schedule}. */
    static String scheduleText(Map<String, Object> status) {
        String next = String.valueOf(status.get("next"));
        return status.get("schedule") + (next.isEmpty() ? "; no next time" : "; next at " + next);
    }
}
