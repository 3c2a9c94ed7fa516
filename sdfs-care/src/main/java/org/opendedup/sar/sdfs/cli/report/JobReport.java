package org.opendedup.sar.sdfs.cli.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.PaceSetting;
import org.opendedup.sar.sdfs.jobs.StartTimes;

/**
 * What the reports about jobs have in common. The names are stable.
 *
 * @param ended null while it runs
 * @param error null unless it failed
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record JobReport(
        long number,
        String state,
        String cause,
        String began,
        @Nullable String ended,
        double seconds,
        @Nullable String error) {
    public static JobReport of(JobStatus<?> status) {
        return new JobReport(
                status.number(),
                status.state().toString(),
                status.cause().toString(),
                time(status.began()),
                status.ended() == null ? null : time(status.ended()),
                status.seconds(),
                status.failure() == null ? null : Printable.line(FailureText.of(status.failure())));
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
