package org.opendedup.sar.sdfs.cli.report;

import java.lang.reflect.RecordComponent;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.hot.distributor.DistributorStatistics;
import org.opendedup.sar.hot.distributor.Latency;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.sdfs.jmx.SarFigures;
import org.opendedup.sar.ssd.SsdLogStatistics;

/** Formats the output of the sar commands for people, from the replies of {@link SarControl}. */
public final class SarText {
    /** Below this number of entries, bytes per entry are not shown: the empty table has 26 KB. */
    private static final int FEW_ENTRIES = 1000;

    /** What the heading above a figure says, and its meaning need not repeat. */
    private static final String BEGINNINGS = "^(Chunks (promoted |demoted )?|Not promoted: )";

    private static final String SUM_OF_REFUSALS = "refusedChunks";

    private final StringBuilder text = new StringBuilder();

    private SarText() {}

    /** Returns the whole status, in sections. */
    public static String status(SarFigures status) {
        var page = new SarText();
        page.state(status);
        page.parameters(status.parameters());
        page.memory(status.memory());
        page.promotion(status.promotion());
        page.demotion(status.demotion());
        page.reads(status.reads());
        page.log(status.log());
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
        String threshold = VolumeOptions.SAR_THRESHOLD.key();
        if (!Objects.equals(before.get(threshold), after.get(threshold))) {
            page.text.append(SarSettings.unusedThreshold(String.valueOf(after.get(VolumeOptions.SAR_POLICY.key()))));
        }
        return page.text.toString();
    }

    private void state(SarFigures status) {
        SarFigures.Space space = status.space();
        line("State", status.state() + (status.reason().isEmpty() ? "" : ": " + status.reason()));
        line("Location", status.location().isEmpty() ? "-" : status.location());
        long capacity = space.ssdCapacityBytes();
        line("Capacity", ByteSize.rounded(capacity));
        line("Used", ByteSize.rounded(space.ssdUsedBytes()) + share(space.ssdUsedBytes(), capacity));
        line("Live", ByteSize.rounded(space.ssdLiveBytes()) + share(space.ssdLiveBytes(), capacity));
    }

    private void parameters(Map<String, Object> parameters) {
        heading("Parameters");
        parameters.forEach((name, value) -> line(name, shown(name, value)));
    }

    private void memory(SarFigures.Memory memory) {
        heading("Memory");
        long entries = memory.mapTableEntries();
        line(
                "Map table",
                entries + " of at most " + memory.mapTableMaxEntries() + " entries, "
                        + ByteSize.rounded(memory.mapTableHeapBytes())
                        + (entries < FEW_ENTRIES
                                ? ""
                                : String.format(Locale.ROOT, ", %.1f bytes an entry", memory.mapTableBytesPerEntry())));
        line(
                "LRU list",
                memory.lruItems() + " items, " + ByteSize.rounded(memory.lruHeapBytes()) + ", " + memory.lruHits()
                        + " second reads found");
    }

    private void promotion(SarFigures.Promotion promotion) {
        heading("Offered since mounted: " + promotion.offeredChunks() + " chunks");
        heading("Promoted: " + promotion.promotedChunks() + " chunks, " + ByteSize.rounded(promotion.promotedBytes()));
        figures(promotion, "by");
        heading("Waiting");
        figures(promotion, "queued");
        figures(promotion, "remembered");
        heading("Not promoted: " + promotion.refusedChunks() + " chunks");
        figures(promotion, "refused");
    }

    private void demotion(SarFigures.Demotion demotion) {
        heading("Demoted since mounted: " + demotion.demotedChunks() + " chunks");
        figures(demotion, "by");
        figures(demotion, "unreferenced");
        figures(demotion, "damaged");
        if (demotion.running()) {
            line(
                    "Sweep running",
                    demotion.examined() + " of " + demotion.toExamine() + " entries"
                            + share(demotion.examined(), demotion.toExamine()));
        }
    }

    private void reads(DistributorStatistics reads) {
        heading("Read since mounted: " + reads.chunks() + " chunks");
        line("From memory", reads.memoryHits() + " chunks");
        line("From the SSD", chunks(reads.ssdHits(), reads.ssdBytes()) + ", in " + reads.ssdRequests() + " requests");
        line("  too late", reads.late() + " chunks, read from home");
        line("From home", chunks(reads.homeReads(), reads.homeBytes()));
        line("  in spite of a copy", reads.unusedCopies() + " chunks, beside others of their frames");
        line("Not read", reads.unread() + " chunks, unreadable or no longer wanted");
        text.append(String.format(
                "%n  %-16s %10s %10s %10s %10s %10s %10s %10s%n",
                "Latency in ms", "reads", "mean", "50 %", "95 %", "99 %", "99.9 %", "max"));
        latency("SSD", reads.ssdLatency());
        latency("home", reads.homeLatency());
    }

    private void latency(String source, Latency latency) {
        text.append(String.format(Locale.ROOT, "  %-16s %10d", source, latency.reads()));
        for (double micros : new double[] {
            latency.meanMicros(),
            latency.p50Micros(),
            latency.p95Micros(),
            latency.p99Micros(),
            latency.p999Micros(),
            latency.maxMicros()
        }) {
            text.append(String.format(Locale.ROOT, " %10.2f", micros / 1000));
        }
        text.append(System.lineSeparator());
    }

    private void log(SsdLogStatistics log) {
        heading("Log since attached");
        line("Segments", log.segments() + " files");
        line("Written", log.writtenRecords() + " records, " + ByteSize.rounded(log.writtenBytes()));
        line("Queue", ByteSize.rounded(log.queuedBytes()) + " not written yet, " + log.queuedChunks() + " chunks");
        line(
                "Reclaimed",
                log.reclaimedSegments() + " segments, " + log.cleanedSegments() + " of them cleaned by copying "
                        + ByteSize.rounded(log.cleaningBytes()));
        line(
                "Failures",
                log.writeFailures() + " batches not written, " + log.readFailures() + " reads failed, "
                        + log.badRecords() + " bad records dropped");
    }

    private void heading(String heading) {
        text.append(String.format("%n%s%n", heading));
    }

    private void line(String name, String value) {
        text.append(String.format("  %-26s %s%n", name, value));
    }

    /** Adds those figures of a record whose names begin with a prefix, as they are declared, without their sum. */
    private void figures(Record record, String prefix) {
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            Figure figure = component.getAnnotation(Figure.class);
            String name = component.getName();
            if (figure != null && name.startsWith(prefix) && !name.equals(SUM_OF_REFUSALS)) {
                String meaning = figure.value().replaceFirst(BEGINNINGS, "");
                text.append(String.format("  %12s  %s%n", value(component, record), meaning));
            }
        }
    }

    private static Object value(RecordComponent component, Record record) {
        try {
            return component.getAccessor().invoke(record);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(component + " cannot be read", e);
        }
    }

    private static String chunks(long chunks, long bytes) {
        return chunks + " chunks, " + ByteSize.rounded(bytes);
    }

    private static String share(long part, long whole) {
        return whole <= 0 ? "" : String.format(Locale.ROOT, " (%.0f %%)", 100.0 * part / whole);
    }

    private static String shown(String name, @Nullable Object value) {
        return name.endsWith("Bytes") && value instanceof Number bytes
                ? ByteSize.exact(bytes.longValue())
                : String.valueOf(value);
    }
}
