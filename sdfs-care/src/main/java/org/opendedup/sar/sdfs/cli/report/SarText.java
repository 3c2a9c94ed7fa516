package org.opendedup.sar.sdfs.cli.report;

import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.hot.distributor.DistributorStatistics;
import org.opendedup.sar.hot.distributor.Latency;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.jmx.SarFigures;
import org.opendedup.sar.ssd.SsdLogStatistics;

/** Formats the output of the sar commands for people, from the replies of {@link SarControl}. */
public final class SarText {
    /** Below this number of entries, bytes per entry are not shown: the empty table has 26 KB. */
    private static final int FEW_ENTRIES = 1000;

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
        cause(promotion.byWrite(), "when a duplicate was written");
        cause(promotion.byRead(), "on a second read from the disk");
        cause(promotion.byRecipe(), "for a file that uses little of their container");
        heading("Waiting (chunks)");
        cause(promotion.queuedChunks(), "in the queue, with their bytes");
        cause(promotion.rememberedChunks(), "arrived while the queue was full; will be read again");
        heading("Not promoted: " + promotion.refusedChunks() + " chunks");
        cause(promotion.refusedCount(), "too few references");
        cause(promotion.refusedRun(), "part of a long run");
        cause(promotion.refusedPresent(), "on the SSD already, or being written");
        cause(promotion.refusedRank(), "of less value than the chunks on the full SSD");
        cause(promotion.refusedTooLarge(), "longer than a record may be");
        cause(promotion.refusedNoRoom(), "demotion and cleaning made too little room");
        cause(promotion.refusedQueue(), "the queue and the list of chunks to read again were full");
        cause(promotion.refusedUnavailable(), "no SSD, or it accepted no writes");
        cause(promotion.refusedWriteFailed(), "the SSD failed during the write, or was not written after a failure");
        cause(promotion.refusedDamaged(), "their bytes were not those of the chunk");
        cause(promotion.refusedUnreadable(), "their bytes at home, or their references, could not be read");
        cause(promotion.refusedUnreferenced(), "nothing refers to them any more");
    }

    private void demotion(SarFigures.Demotion demotion) {
        heading("Demoted since mounted: " + demotion.demotedChunks() + " chunks");
        cause(demotion.bySettings(), "settings changed, or on request");
        cause(demotion.bySpace(), "replaced by chunks of more value");
        cause(demotion.unreferenced(), "nothing refers to them any more");
        cause(demotion.damaged(), "their record was damaged");
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

    private void cause(long chunks, String name) {
        text.append(String.format("  %12d  %s%n", chunks, name));
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
