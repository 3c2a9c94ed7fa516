package org.opendedup.sar.sdfs.cli.report;

import java.util.Map;
import java.util.stream.Collectors;
import org.opendedup.sar.sdfs.scrub.ScrubWords;

/** Formats the output of the scrub commands for people, from {@link ScrubReport}. */
public final class ScrubText {
    private static final String NOTE = "\n  note      ";

    private ScrubText() {}

    /**
     * Returns the whole status.
     *
     * @param hasFiles as of {@link #advice}
     * @param progress the progress of the running scrub, as one line
     */
    public static String status(String volume, boolean hasFiles, Map<String, Object> status, String progress) {
        Map<String, Object> current = Json.object(status, "current");
        Map<String, Object> stopped = Json.object(status, "stopped");
        var text = new StringBuilder(volume).append(": ");
        if (!current.isEmpty()) {
            text.append("a scrub is running, ")
                    .append(Boolean.TRUE.equals(current.get("continued")) ? "continued" : "started")
                    .append(" by " + current.get("cause") + " at " + current.get("began"))
                    .append("\n  ")
                    .append(progress.strip());
            text.append("\n  phase     ").append(current.get("phase"));
            text.append("\n  found     ").append(found(current)).append(notes(current, NOTE));
        } else if (!stopped.isEmpty()) {
            text.append("the scrub of ").append(stopped.get("began")).append(" is stopped; ");
            text.append(
                    Boolean.TRUE.equals(stopped.get("held"))
                            ? "'scrub start' continues it"
                            : "it goes on some minutes after a mount, or by 'scrub start'");
            text.append("\n  verified  ").append(verified(stopped));
            text.append("\n  phase     ").append(stopped.get("phase"));
            text.append("\n  found     ").append(found(stopped)).append(notes(stopped, NOTE));
        } else {
            text.append("no scrub is running");
        }
        text.append("\n  pace      ").append(JobReport.paceText(status));
        text.append("\n  schedule  ").append(JobReport.scheduleText(status));
        Map<String, Object> last = Json.object(status, "last");
        text.append("\n  last      ")
                .append(
                        last.isEmpty()
                                ? "none"
                                : last.get("ended") + ": " + result(last).replace("\n", "\n            "));
        if (!last.isEmpty()) {
            boolean clean = ScrubReport.totals(last).isClean();
            text.append(advice(volume, hasFiles, clean).replace("\n", "\n            "));
        }
        String error = String.valueOf(status.get("error"));
        if (!error.isEmpty()) {
            text.append("\n  failed    ").append(error);
        }
        return text.toString();
    }

    /** Returns the last scrub, and the running one, as one line. */
    static String line(Map<String, Object> status) {
        Map<String, Object> last = Json.object(status, "last");
        Map<String, Object> current = Json.object(status, "current");
        String text = last.isEmpty() ? "none complete" : "last " + last.get("ended") + ", found " + found(last);
        if (!current.isEmpty()) {
            long bytes = Json.number(current, "bytes");
            text += "; running"
                    + (bytes == 0 ? "" : ", " + Json.number(current, "bytesDone") * 100 / bytes + " % done")
                    + (Boolean.TRUE.equals(status.get("paused")) ? ", paused" : "") + ", found " + found(current);
        } else if (!Json.object(status, "stopped").isEmpty()) {
            text += "; one is stopped";
        }
        String next = String.valueOf(status.get("next"));
        return next.isEmpty() ? text : text + "; next " + next;
    }

    /** Returns what a complete scrub has verified and found. */
    public static String result(Map<String, Object> report) {
        return verified(report) + " verified; found " + found(report) + notes(report, "\nNote: ");
    }

    /**
     * Returns what to do about damage, as further lines.
     *
     * @param hasFiles whether it is known which files have what is damaged
     * @param clean whether there is none; the result is empty then
     */
    public static String advice(String volume, boolean hasFiles, boolean clean) {
        if (clean) {
            return "";
        }
        String advice =
                "\nReading a damaged chunk gives an I/O error until it is healed: write the same content again, under"
                        + "\nany name, or attach an SSD that has copies, if there is one.";
        String status = "\n  sdfscli " + volume + " status";
        return hasFiles
                ? advice + " These name what to do, and the files:" + status + "; sdfscli " + volume + " damaged"
                : advice + " This names what to do:" + status;
    }

    private static String verified(Map<String, Object> report) {
        return ScrubWords.verified(ScrubReport.totals(report));
    }

    private static String found(Map<String, Object> report) {
        return ScrubWords.found(ScrubReport.totals(report));
    }

    private static String notes(Map<String, Object> report, String before) {
        return ScrubWords.notes(ScrubReport.totals(report)).stream()
                .map(note -> before + note + ".")
                .collect(Collectors.joining());
    }
}
