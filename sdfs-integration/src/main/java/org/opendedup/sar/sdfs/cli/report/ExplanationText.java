package org.opendedup.sar.sdfs.cli.report;

import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.control.SarControl;

/** Formats the output of {@code sar explain} for people, from the replies of {@link SarControl}. */
public final class ExplanationText {
    private static final String LINE = "%14s  %-16s %8s %10s %10s  %s";

    /** Header above the lines of {@link #chunk}. */
    public static final String HEADER =
            "\n" + String.format(LINE, "offset", "chunk", "bytes", "references", "run", "verdict");

    private ExplanationText() {}

    public static String summary(Map<String, Object> explanation) {
        var text = new StringBuilder();
        long bytes = Json.number(explanation, "bytes");
        text.append(String.format(
                "%s: %d chunks, %s%n%n",
                Printable.line(String.valueOf(explanation.get("path"))),
                Json.number(explanation, "chunks"),
                ByteSize.rounded(bytes)));
        Map<String, Object> verdicts = Json.object(explanation, "verdicts");
        for (String verdict : verdicts.keySet()) {
            Map<String, Object> share = Json.object(verdicts, verdict);
            text.append(String.format(
                    Locale.ROOT,
                    "  %-20s %12d chunks %12s %4.0f %%%n",
                    verdict,
                    Json.number(share, "chunks"),
                    ByteSize.rounded(Json.number(share, "bytes")),
                    bytes == 0 ? 0 : 100.0 * Json.number(share, "bytes") / bytes));
        }
        Map<String, Object> withSsd = Json.object(explanation, "withSsd");
        text.append(String.format("%nA sequential read with nothing in memory, on a 7200 rpm disk:%n"));
        text.append(work("without SSD", Json.object(explanation, "fromDisk"), ""));
        String fromSsd = String.format(
                Locale.ROOT,
                ", and %d chunks from the SSD %.2f s",
                Json.number(withSsd, "ssdChunks"),
                Json.decimal(withSsd, "ssdSeconds"));
        text.append(work("with SSD", withSsd, fromSsd));
        text.append(String.format(Locale.ROOT, "  %-12s %38.2f s", "saved", Json.decimal(explanation, "savedSeconds")));
        return text.toString();
    }

    private static String work(String name, Map<String, Object> work, String more) {
        return String.format(
                Locale.ROOT,
                "  %-12s %8d disk requests %10s %7.2f s%s%n",
                name,
                Json.number(work, "diskRequests"),
                ByteSize.rounded(Json.number(work, "diskBytes")),
                Json.decimal(work, "diskSeconds"),
                more);
    }

    public static String chunk(Map<String, Object> chunk) {
        return String.format(
                LINE,
                chunk.get("offset"),
                chunk.get("chunk"),
                chunk.get("bytes"),
                chunk.get("references"),
                chunk.get("runBytes"),
                chunk.get("verdict"));
    }
}
