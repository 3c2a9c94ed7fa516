package org.opendedup.sar.sdfs.cli.report;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.sdfs.cli.command.FailureText;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.heal.HealStatus;
import org.opendedup.sar.sdfs.heal.Heals;
import org.opendedup.sar.sdfs.jobs.JobState;

/** Reports heals as values for JSON, whose keys are stable, and as text. */
public final class HealText {
    /** In a report: chunks that stay damaged and that files use. */
    public static final String UNHEALED_CHUNKS = "unhealedChunks";

    private static final String HEALED_CHUNKS = "healedChunks";
    private static final String UNHEALED = "unhealed";

    /** Most reasons that are printed; JSON has all. */
    private static final int MAX_REASONS = 20;

    private HealText() {}

    /** Returns the progress and, when it has ended, the result of a pass; without one, what is known of the volume. */
    public static Map<String, Object> values(Optional<HealStatus> pass, Heals heals) {
        var report = new LinkedHashMap<String, Object>();
        report.put("number", pass.map(HealStatus::number).orElse(0L));
        report.put(
                "running",
                pass.map(HealStatus::state).filter(JobState.RUNNING::equals).isPresent());
        pass.ifPresent(status -> put(status, report));
        HealReport done = pass.map(HealStatus::report).orElse(HealReport.NONE);
        report.put("containers", done.containers());
        report.put(HEALED_CHUNKS, done.healedChunks());
        report.put("fromFrame", done.fromFrame());
        report.put("fromSsd", done.fromSsd());
        report.put("fromCopies", done.fromCopies());
        report.put("sound", done.sound());
        report.put("healedSinceMount", heals.healedChunks());
        report.put(UNHEALED_CHUNKS, heals.unhealedChunks());
        List<Object> unhealed = new ArrayList<>();
        for (HealReport.Unhealed each : done.unhealed()) {
            var one = new LinkedHashMap<String, Object>();
            one.put("container", each.container());
            one.put("firstSlot", each.firstSlot());
            one.put("chunks", each.chunks());
            one.put("reason", Printable.line(each.reason()));
            unhealed.add(one);
        }
        report.put(UNHEALED, unhealed);
        return report;
    }

    private static void put(HealStatus status, Map<String, Object> report) {
        report.put("state", status.state().toString());
        report.put("cause", status.cause().toString());
        report.put("began", JobReport.time(status.began()));
        Instant ended = status.ended();
        if (ended != null) {
            report.put("ended", JobReport.time(ended));
        }
        report.put("seconds", status.seconds());
        // The client shows a step as a bar.
        report.put("step", "damaged chunks");
        report.put("stepDone", status.report().healedChunks() + status.report().unhealedChunks());
        report.put("stepOf", status.chunks());
        report.put("stepSeconds", status.seconds());
        Throwable failure = status.failure();
        if (failure != null) {
            report.put("error", Printable.line(FailureText.of(failure)));
        }
    }

    /** Returns what a pass did, for people. */
    public static String result(Map<String, Object> report) {
        long healed = Json.number(report, HEALED_CHUNKS);
        long unhealed = Json.number(report, UNHEALED_CHUNKS);
        var text = new StringBuilder();
        if (healed == 0 && unhealed == 0) {
            return "No chunk is marked as damaged.";
        }
        text.append(healed).append(" chunks healed: ");
        text.append(Json.number(report, "fromFrame")).append(" from their own frames, ");
        text.append(Json.number(report, "fromSsd")).append(" from the SSD, ");
        text.append(Json.number(report, "fromCopies")).append(" from other copies, ");
        text.append(Json.number(report, "sound")).append(" were sound.");
        if (unhealed > 0) {
            text.append("\nSTILL DAMAGED: ").append(unhealed).append(" chunks.");
            List<Map<String, Object>> all = Json.objects(report, UNHEALED);
            all.stream()
                    .limit(MAX_REASONS)
                    .forEach(each -> text.append("\n  container ")
                            .append(each.get("container"))
                            .append(": ")
                            .append(each.get("reason")));
            if (all.size() > MAX_REASONS) {
                text.append("\n  and more: --json shows all");
            }
            text.append("\nWrite the same content again, under any name, or attach an SSD that has copies,"
                    + " if there is one.");
        }
        return text.toString();
    }
}
