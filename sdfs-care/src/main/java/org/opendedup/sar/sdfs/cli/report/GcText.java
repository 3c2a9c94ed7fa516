package org.opendedup.sar.sdfs.cli.report;

import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;

/** Formats the output of the gc commands for people, from {@link GcReport}. */
public final class GcText {
    private GcText() {}

    /**
     * Returns the whole status.
     *
     * @param progress the progress of the running collection, as one line
     */
    public static String status(String volume, Map<String, Object> status, String progress) {
        Map<String, Object> current = Json.object(status, "current");
        var text = new StringBuilder(volume).append(": ");
        if (!current.isEmpty()) {
            text.append("a ")
                    .append(kind(current))
                    .append(" is running, started by ")
                    .append(current.get("cause"))
                    .append(" at ")
                    .append(current.get("began"))
                    .append("\n  ")
                    .append(progress.strip())
                    .append("\n  stage     ")
                    .append(current.get("stage"));
        } else if (Boolean.TRUE.equals(status.get("diskFull"))) {
            text.append("a collection is running, started by the volume because a disk is full");
        } else {
            text.append("no collection is running");
        }
        text.append("\n  pace      ").append(pace(status));
        text.append("\n  compress  ").append(status.get("recompress"));
        text.append("\n  schedule  ").append(JobReport.scheduleText(status));
        Map<String, Object> last = Json.object(status, "last");
        text.append("\n  last      ").append(last.isEmpty() ? "none since the volume was mounted" : last(last));
        return text.toString();
    }

    /** Returns what kind of collection a report is about. */
    public static String kind(Map<String, Object> report) {
        return Boolean.TRUE.equals(report.get("dryRun")) ? "dry run" : "collection";
    }

    private static String pace(Map<String, Object> status) {
        String arranges = Boolean.TRUE.equals(status.get("arrange")) ? "; arranges chunks first" : "";
        return JobReport.paceText(status) + arranges;
    }

    private static String last(Map<String, Object> last) {
        String begin = last.get("ended") + ", started by " + last.get("cause") + ": ";
        return switch (String.valueOf(last.get("state"))) {
            case "done" -> begin + result(last).replace("\n", "\n            ");
            case "stopped" -> begin + "stopped; " + size(last, "returnedBytes") + " returned";
            default -> begin + "failed: " + last.get("error");
        };
    }

    /** Returns what a collection did that has ended. */
    public static String result(Map<String, Object> report) {
        long returned = Json.number(report, "returnedBytes") + Json.number(report, "strayBytes");
        var text = new StringBuilder(arrangement(Json.object(report, GcReport.ARRANGEMENT)));
        text.append(String.format(
                Locale.ROOT,
                "%s returned to the file system in %.1f s: %d containers removed, %d rewritten (%s)",
                ByteSize.rounded(returned),
                Json.decimal(report, "seconds"),
                Json.number(report, "removed"),
                Json.number(report, "rewritten"),
                size(report, "copiedBytes")));
        long stray = Json.number(report, "strayBytes");
        if (stray > 0) {
            text.append("\n" + ByteSize.rounded(stray) + " of it were what a crash or a failed write had left");
        }
        long saved = Json.number(report, "recompressSavedBytes");
        long recompressed = Json.number(report, "recompressed");
        if (saved > 0 || recompressed > 0) {
            text.append("\n" + ByteSize.rounded(saved) + " of it were saved by compressing harder; " + recompressed
                    + " containers were rewritten only for that");
        }
        long kept = Json.number(report, "keptContainers");
        if (kept > 0) {
            text.append("\n" + kept + " containers are kept, because a chunk or the counts of them cannot be read;"
                    + " see the daemon's log");
        }
        long left = Json.number(report, "leftBytes");
        long stored = Json.number(report, "storedBytes") - Json.number(report, "returnedBytes");
        return text.append("\n" + ByteSize.rounded(left) + " of garbage are left, " + percent(left, stored)
                        + " of the stored bytes")
                .toString();
    }

    /** Returns what was moved before the collection, as one line; empty if there was no arrangement. */
    private static String arrangement(Map<String, Object> report) {
        if (report.isEmpty()) {
            return "";
        }
        String more = Boolean.TRUE.equals(report.get("complete")) ? "" : "; it ended early, and the next one continues";
        return String.format(
                Locale.ROOT,
                "%s of chunks moved for the newest %d files: predicted time to read them %.1f s, %.1f s before%s%n",
                size(report, "movedBytes"),
                Json.number(report, "files"),
                Json.decimal(report, "secondsAfter"),
                Json.decimal(report, "secondsBefore"),
                more);
    }

    /** Returns what a dry run found. */
    public static String dryRun(Map<String, Object> report) {
        long recompress = Json.number(report, "recompressVictims");
        String more = recompress == 0
                ? ""
                : String.format(
                        "%nWould also compress %d containers of %s harder",
                        recompress, size(report, "recompressBytes"));
        return String.format(
                        "Stored: %s in %d containers; garbage: %s, %s%n"
                                + "Would remove or rewrite %d containers of %s%n"
                                + "Would return about %s to the file system, and leave %s of garbage",
                        size(report, "storedBytes"),
                        Json.number(report, "containers"),
                        size(report, "garbageBytes"),
                        percent(Json.number(report, "garbageBytes"), Json.number(report, "storedBytes")),
                        Json.number(report, "victims"),
                        size(report, "victimBytes"),
                        size(report, GcReport.WOULD_RETURN),
                        size(report, "leftBytes"))
                + more;
    }

    /** Returns one line for each value of the pace that has changed; empty if none has. */
    public static String changes(Map<String, Object> before, Map<String, Object> after) {
        var text = new StringBuilder();
        before.forEach((name, old) -> {
            if (!old.equals(after.get(name))) {
                text.append(name + ": " + old + " -> " + after.get(name) + "\n");
            }
        });
        return text.toString().strip();
    }

    private static String size(Map<String, Object> report, String key) {
        return ByteSize.rounded(Json.number(report, key));
    }

    private static String percent(long part, long whole) {
        return String.format(Locale.ROOT, "%.1f %%", whole <= 0 ? 0 : 100.0 * part / whole);
    }
}
