package org.opendedup.sar.sdfs.cli.report;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.RoughTime;

/** Formats {@link StatusReport} for people: one screen, lines of at most about 100 characters. */
public final class StatusText {
    private static final int WIDTH = 100;
    private static final String INDENT = " ".repeat(13);

    /** Findings shown in full; the screen has room for this many. */
    private static final int MAX_FINDINGS = 4;

    private final Map<String, Object> report;
    private final StringBuilder text = new StringBuilder();

    private StatusText(Map<String, Object> report) {
        this.report = report;
    }

    public static String of(Map<String, Object> report) {
        var printed = new StatusText(report);
        printed.print();
        return printed.text.toString();
    }

    private void print() {
        text.append(report.get("name"))
                .append(": ")
                .append(report.get("health"))
                .append('\n');
        line("mounted", mounted());
        if (report.containsKey("lastEnd")) {
            line("last end", report.get("lastEnd"));
        }
        findings();
        line("space", space(Json.object(report, "space")));
        for (Map<String, Object> device : Json.objects(report, "devices")) {
            line(
                    "disk",
                    size(device, "usableBytes") + " free of " + size(device, "totalBytes") + ": " + device.get("folder")
                            + " (" + words(device.get("parts")) + ")");
        }
        line("collection", collection(Json.object(report, "collection")));
        line("scrub", ScrubText.line(Json.object(report, "scrub")));
        line("SSD", ssd(Json.object(report, "ssd")));
        Map<String, Object> fastTier = Json.object(report, "fastTier");
        if (Json.number(fastTier, "rawCapacityBytes") > 0 || Json.number(fastTier, "rawFiles") > 0) {
            line("fast tier", fastTier(fastTier));
        }
        line("index", index(Json.object(report, "index")));
        Map<String, Object> errors = Json.object(report, "errors");
        line(
                "errors",
                Json.number(errors, "damagedChunks") + " damaged chunks; since mounting: "
                        + Json.number(errors, "healedChunks") + " healed chunks, "
                        + Json.number(errors, "missingContainers") + " missing containers" + requests(errors));
        if (report.containsKey("logFile")) {
            line(
                    "log",
                    Json.number(errors, "loggedErrors") + " errors, " + Json.number(errors, "loggedWarnings")
                            + " warnings since mounting: " + report.get("logFile"));
        }
    }

    /** The process of a volume without files does not know where these are mounted. */
    private String mounted() {
        return ("mounted".equals(report.get("state")) ? "" : report.get("state") + "; ")
                + (report.containsKey("mountPoint") ? "on " + report.get("mountPoint") + " for " : "for ")
                + RoughTime.of(Json.number(report, "uptimeSeconds")) + ", by process " + report.get("pid");
    }

    private static String space(Map<String, Object> space) {
        String available = space.containsKey("availableBytes")
                ? size(space, "availableBytes") + " available of " + size(space, "capacityBytes")
                : size(space, "deviceFreeBytes") + " free on the disks";
        return available + "; stored " + size(space, "storedBytes") + ", of which " + size(space, "reclaimableBytes")
                + " are garbage";
    }

    private static String requests(Map<String, Object> errors) {
        return errors.containsKey("failedReads")
                ? ", failed requests: " + Json.number(errors, "failedReads") + " read, "
                        + Json.number(errors, "failedWrites") + " write, " + Json.number(errors, "failedSyncs")
                        + " sync, " + Json.number(errors, "refusedForSpace") + " without space"
                : "";
    }

    private void findings() {
        List<Map<String, Object>> findings = Json.objects(report, "findings");
        for (Map<String, Object> finding : findings.subList(0, Math.min(MAX_FINDINGS, findings.size()))) {
            line(String.valueOf(finding.get("severity")).toUpperCase(Locale.ROOT), sentence(finding.get("what")));
            boolean hasCommand = !String.valueOf(finding.get("command")).isEmpty();
            line("  to do", finding.get("remedy") + (hasCommand ? ":" : "."));
            if (hasCommand) {
                // Unbroken, to be copied.
                text.append(INDENT).append("  ").append(finding.get("command")).append('\n');
            }
        }
        if (findings.size() > MAX_FINDINGS) {
            line("", "and " + (findings.size() - MAX_FINDINGS) + " more: see --json");
        }
    }

    /** Ends a text like a sentence; one that ends in a question stays one. */
    private static String sentence(@Nullable Object what) {
        String text = String.valueOf(what);
        return text.endsWith(".") || text.endsWith("?") ? text : text + ".";
    }

    private static String collection(Map<String, Object> collection) {
        String next = String.valueOf(collection.get("next"));
        String after = next.isEmpty() ? "" : "; next " + next;
        if (Boolean.TRUE.equals(collection.get("running"))) {
            return "running" + (Boolean.TRUE.equals(collection.get("paused")) ? ", paused" : "") + after;
        }
        Map<String, Object> last = Json.object(collection, "last");
        if (last.isEmpty()) {
            return "none since mounting" + after;
        }
        return last.get("state") + " " + last.get("ended") + ", " + size(last, "returnedBytes") + " returned" + after;
    }

    /** Returns the line of the SSD of a report. */
    static String ssd(Map<String, Object> ssd) {
        String state = String.valueOf(ssd.get("state"));
        if (state.equals("none")) {
            return state;
        }
        String copies = state + ", " + size(ssd, "ssdUsedBytes");
        String capacity = " of " + size(ssd, "ssdCapacityBytes") + " used";
        return Json.number(ssd, "ssdIndexBytes") == 0
                ? copies + capacity
                : copies + " by copies and " + size(ssd, "ssdIndexBytes") + " by the index" + capacity;
    }

    private static String fastTier(Map<String, Object> tier) {
        return tier.get("mode") + (Boolean.TRUE.equals(tier.get("available")) ? "" : ", absent") + ", "
                + size(tier, "rawUsedBytes") + " of " + size(tier, "rawCapacityBytes") + " used by "
                + Json.number(tier, "rawFiles") + " files";
    }

    private static String index(Map<String, Object> index) {
        if (!Boolean.TRUE.equals(index.get("usable"))) {
            return "not used";
        }
        if (Boolean.TRUE.equals(index.get("updating"))) {
            return "being compared with the containers: " + Json.number(index, "examinedContainers") + " of "
                    + Json.number(index, "containers");
        }
        return Boolean.TRUE.equals(index.get("complete")) ? "complete" : "not complete";
    }

    private static String words(@Nullable Object list) {
        return list instanceof List<?> all
                ? String.join(", ", all.stream().map(String::valueOf).toList())
                : "";
    }

    private static String size(Map<String, Object> within, String key) {
        return ByteSize.rounded(Json.number(within, key));
    }

    /** Appends a line with its title; breaks it between words where it is longer than the screen. */
    private void line(String title, Object value) {
        var line = new StringBuilder(String.format("  %-11s", title));
        for (String word : String.valueOf(value).split(" ")) {
            if (line.length() > INDENT.length() && line.length() + 1 + word.length() > WIDTH) {
                text.append(line).append('\n');
                line = new StringBuilder(INDENT);
            }
            line.append(line.length() == INDENT.length() ? "" : " ").append(word);
        }
        text.append(line).append('\n');
    }
}
