package org.opendedup.sar.sdfs.cli.report;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.control.SarControl;

/** Formats the output of the sar commands for people, from the replies of {@link SarControl}. */
public final class SarText {
    /** Below this number of entries, bytes per entry are not shown: the empty table has 26 KB. */
    private static final int FEW_ENTRIES = 1000;

    private static final Map<String, String> PROMOTED = ordered(
            "byWrite", "when a duplicate was written",
            "byRead", "on a second read from the disk",
            "byRecipe", "for a file that uses little of their container");
    private static final Map<String, String> WAITING = ordered(
            "queuedChunks", "in the queue, with their bytes",
            "rememberedChunks", "arrived while the queue was full; will be read again");
    private static final Map<String, String> REFUSED = ordered(
            "refusedCount", "too few references",
            "refusedRun", "part of a long run",
            "refusedPresent", "on the SSD already, or being written",
            "refusedRank", "of less value than the chunks on the full SSD",
            "refusedTooLarge", "longer than a record may be",
            "refusedNoRoom", "demotion and cleaning made too little room",
            "refusedQueue", "the queue and the list of chunks to read again were full",
            "refusedUnavailable", "no SSD, or it accepted no writes",
            "refusedWriteFailed", "the SSD failed during the write, or was not written after a failure",
            "refusedDamaged", "their bytes were not those of the chunk",
            "refusedUnreadable", "their bytes at home, or their references, could not be read",
            "refusedUnreferenced", "nothing refers to them any more");
    private static final Map<String, String> DEMOTED = ordered(
            "bySettings", "settings changed, or on request",
            "bySpace", "replaced by chunks of more value",
            "unreferenced", "nothing refers to them any more",
            "damaged", "their record was damaged");

    private final StringBuilder text = new StringBuilder();

    private SarText() {}

    /** Returns the whole status, in sections. */
    public static String status(Map<String, Object> status) {
        var page = new SarText();
        page.state(status);
        page.parameters(Json.object(status, "parameters"));
        page.memory(Json.object(status, "memory"));
        page.promotion(Json.object(status, "promotion"));
        page.demotion(Json.object(status, "demotion"));
        page.reads(Json.object(status, "reads"));
        page.log(Json.object(status, "log"));
        return page.text.toString().stripTrailing();
    }

    /** Returns {@code name: old -> new}, one line for each value that differs. */
    public static String changes(Map<String, Object> before, Map<String, Object> after) {
        var page = new SarText();
        after.forEach((name, value) -> {
            if (!value.toString().equals(Objects.toString(before.get(name)))) {
                page.text.append(
                        String.format("%s: %s -> %s%n", name, shown(name, before.get(name)), shown(name, value)));
            }
        });
        return page.text.toString();
    }

    private void state(Map<String, Object> status) {
        Map<String, Object> space = Json.object(status, "space");
        String reason = Objects.toString(status.get("reason"), "");
        line("State", status.get("state") + (reason.isEmpty() ? "" : ": " + reason));
        String location = Objects.toString(status.get("location"), "");
        line("Location", location.isEmpty() ? "-" : location);
        long capacity = number(space, "ssdCapacityBytes");
        long used = number(space, "ssdUsedBytes");
        line("Capacity", ByteSize.rounded(capacity));
        line("Used", ByteSize.rounded(used) + share(used, capacity));
        line("Live", ByteSize.rounded(number(space, "ssdLiveBytes")) + share(number(space, "ssdLiveBytes"), capacity));
    }

    private void parameters(Map<String, Object> parameters) {
        heading("Parameters");
        parameters.forEach((name, value) -> line(name, shown(name, value)));
    }

    private void memory(Map<String, Object> memory) {
        heading("Memory");
        long entries = number(memory, "mapTableEntries");
        line(
                "Map table",
                entries + " of at most " + number(memory, "mapTableMaxEntries") + " entries, "
                        + ByteSize.rounded(number(memory, "mapTableHeapBytes"))
                        + (entries < FEW_ENTRIES ? "" : bytesPerEntry(memory)));
        line(
                "LRU list",
                number(memory, "lruItems") + " items, " + ByteSize.rounded(number(memory, "lruHeapBytes")) + ", "
                        + number(memory, "lruHits") + " second reads found");
    }

    private static String bytesPerEntry(Map<String, Object> memory) {
        return String.format(Locale.ROOT, ", %.1f bytes an entry", decimal(memory, "mapTableBytesPerEntry"));
    }

    private void promotion(Map<String, Object> promotion) {
        heading("Offered since mounted: " + number(promotion, "offeredChunks") + " chunks");
        heading("Promoted: " + number(promotion, "promotedChunks") + " chunks, "
                + ByteSize.rounded(number(promotion, "promotedBytes")));
        causes(PROMOTED, promotion);
        heading("Waiting (chunks)");
        causes(WAITING, promotion);
        heading("Not promoted: " + number(promotion, "refusedChunks") + " chunks");
        causes(REFUSED, promotion);
    }

    private void demotion(Map<String, Object> demotion) {
        heading("Demoted since mounted: " + number(demotion, "demotedChunks") + " chunks");
        causes(DEMOTED, demotion);
        if (Boolean.TRUE.equals(demotion.get("running"))) {
            long examined = number(demotion, "examined");
            long toExamine = number(demotion, "toExamine");
            line("Sweep running", examined + " of " + toExamine + " entries" + share(examined, toExamine));
        }
    }

    private void reads(Map<String, Object> reads) {
        heading("Read since mounted: " + number(reads, "chunks") + " chunks");
        line("From memory", number(reads, "memoryHits") + " chunks");
        line(
                "From the SSD",
                chunks(reads, "ssdHits", "ssdBytes") + ", in " + number(reads, "ssdRequests") + " requests");
        line("  too late", number(reads, "late") + " chunks, read from home");
        line("From home", chunks(reads, "homeReads", "homeBytes"));
        line("Not read", number(reads, "unread") + " chunks, unreadable or no longer wanted");
        text.append(String.format(
                "%n  %-16s %10s %10s %10s %10s %10s %10s %10s%n",
                "Latency in ms", "reads", "mean", "50 %", "95 %", "99 %", "99.9 %", "max"));
        latency("SSD", Json.object(reads, "ssdLatency"));
        latency("home", Json.object(reads, "homeLatency"));
    }

    private void latency(String source, Map<String, Object> latency) {
        text.append(String.format(Locale.ROOT, "  %-16s %10d", source, number(latency, "reads")));
        for (String key : new String[] {"mean", "p50", "p95", "p99", "p999", "max"}) {
            text.append(String.format(Locale.ROOT, " %10.2f", decimal(latency, key + "Micros") / 1000));
        }
        text.append(System.lineSeparator());
    }

    private void log(Map<String, Object> log) {
        heading("Log since attached");
        line("Segments", number(log, "segments") + " files");
        line("Written", number(log, "writtenRecords") + " records, " + ByteSize.rounded(number(log, "writtenBytes")));
        line(
                "Queue",
                ByteSize.rounded(number(log, "queuedBytes")) + " not written yet, " + number(log, "queuedChunks")
                        + " chunks");
        line(
                "Reclaimed",
                number(log, "reclaimedSegments") + " segments, " + number(log, "cleanedSegments")
                        + " of them cleaned by " + "copying " + ByteSize.rounded(number(log, "cleaningBytes")));
        line(
                "Failures",
                number(log, "writeFailures") + " batches not written, " + number(log, "readFailures")
                        + " reads failed, " + number(log, "badRecords") + " bad records dropped");
    }

    private void heading(String heading) {
        text.append(String.format("%n%s%n", heading));
    }

    private void line(String name, String value) {
        text.append(String.format("  %-26s %s%n", name, value));
    }

    private void causes(Map<String, String> names, Map<String, Object> figures) {
        names.forEach((key, name) -> text.append(String.format("  %12d  %s%n", number(figures, key), name)));
    }

    private static String chunks(Map<String, Object> figures, String chunks, String bytes) {
        return number(figures, chunks) + " chunks, " + ByteSize.rounded(number(figures, bytes));
    }

    private static String share(long part, long whole) {
        return whole <= 0 ? "" : String.format(Locale.ROOT, " (%.0f %%)", 100.0 * part / whole);
    }

    private static String shown(String name, @Nullable Object value) {
        return name.endsWith("Bytes") && value instanceof Number bytes
                ? ByteSize.exact(bytes.longValue())
                : String.valueOf(value);
    }

    private static long number(Map<String, Object> figures, String key) {
        return figures.get(key) instanceof Number number ? number.longValue() : 0;
    }

    private static double decimal(Map<String, Object> figures, String key) {
        return figures.get(key) instanceof Number number ? number.doubleValue() : 0;
    }

    /** Makes a map from alternating keys and names; keeps their order. */
    private static Map<String, String> ordered(String... keysAndNames) {
        var names = new LinkedHashMap<String, String>();
        for (int i = 0; i < keysAndNames.length; i += 2) {
            names.put(keysAndNames[i], keysAndNames[i + 1]);
        }
        return Collections.unmodifiableMap(names);
    }
}
