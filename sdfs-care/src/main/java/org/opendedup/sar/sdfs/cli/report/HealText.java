package org.opendedup.sar.sdfs.cli.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.sdfs.heal.Heals;
import org.opendedup.sar.sdfs.jobs.JobStatus;

/** Reports heals as values for JSON, whose keys are stable, and as text. */
public final class HealText {
    /** In a report: chunks that stay damaged and that files use. */
    public static final String UNHEALED_CHUNKS = "unhealedChunks";

    /** In a report: containers that are missing with their packs. */
    private static final String MISSING_CONTAINERS = "missingContainers";

    private static final String HEALED_CHUNKS = "healedChunks";
    private static final String UNHEALED = "unhealed";

    /** Most reasons that are printed; JSON has all. */
    private static final int MAX_REASONS = 20;

    private HealText() {}

    /** Returns what is known of the volume if no pass was asked for. */
    public static Map<String, Object> none(Heals heals) {
        var report = new LinkedHashMap<String, Object>();
        report.put("number", 0L);
        report.put("running", false);
        putResult(HealReport.NONE, heals, report);
        return report;
    }

    /** Adds the progress and, when it has ended, the result of a pass. */
    public static void put(JobStatus<HealReport> status, Heals heals, Map<String, Object> report) {
        report.put("running", status.isRunning());
        JobReport.putSteps(status, report);
        putResult(Objects.requireNonNull(status.report()), heals, report);
    }

    private static void putResult(HealReport done, Heals heals, Map<String, Object> report) {
        report.putAll(Json.values(done));
        report.put(HEALED_CHUNKS, done.healedChunks());
        report.put("healedSinceMount", heals.healedChunks());
        report.put(UNHEALED_CHUNKS, heals.unhealedChunks());
        report.put(MISSING_CONTAINERS, heals.missingContainers());
    }

    /** Returns whether nothing is left that is damaged or missing. */
    public static boolean isWhole(Map<String, Object> report) {
        return Json.number(report, UNHEALED_CHUNKS) == 0 && Json.number(report, MISSING_CONTAINERS) == 0;
    }

    /** Returns what a pass did, for people. */
    public static String result(Map<String, Object> report) {
        long healed = Json.number(report, HEALED_CHUNKS);
        long unhealed = Json.number(report, UNHEALED_CHUNKS);
        long missing = Json.number(report, MISSING_CONTAINERS);
        List<Map<String, Object>> all = Json.objects(report, UNHEALED);
        var text = new StringBuilder();
        if (healed == 0 && isWhole(report)) {
            return "No chunk is marked as damaged.";
        }
        text.append(healed).append(" chunks healed: ");
        text.append(Json.number(report, "fromFrame")).append(" from their own frames, ");
        text.append(Json.number(report, "fromSsd")).append(" from the SSD, ");
        text.append(Json.number(report, "fromCopies")).append(" from other copies, ");
        text.append(Json.number(report, "sound")).append(" were sound.");
        if (unhealed > 0) {
            text.append("\nSTILL DAMAGED: ").append(unhealed).append(" chunks.");
        }
        if (missing > 0) {
            text.append("\nMISSING: ")
                    .append(missing)
                    .append(" containers, with all their chunks. Bring their packs back; sdfscli "
                            + "VOLUME damaged names them.");
        }
        if (!isWhole(report)) {
            all.stream()
                    .limit(MAX_REASONS)
                    .forEach(each -> text.append("\n  container ")
                            .append(each.get("container"))
                            .append(": ")
                            .append(Printable.line(String.valueOf(each.get("reason")))));
            if (all.size() > MAX_REASONS) {
                text.append("\n  and more: --json shows all");
            }
            text.append("\nWrite the same content again, under any name, or attach an SSD that has copies,"
                    + " if there is one.");
        }
        return text.toString();
    }
}
