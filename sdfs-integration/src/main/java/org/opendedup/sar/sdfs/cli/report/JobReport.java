package org.opendedup.sar.sdfs.cli.report;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.jobs.PaceSetting;
import org.opendedup.sar.sdfs.jobs.StartTimes;

/** What the reports about collections of garbage and about scrubs have in common. The keys are stable. */
final class JobReport {
    private JobReport() {}

    static Map<String, Object> pace(PaceSetting setting) {
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
