package org.opendedup.sar.sim.estimate;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;

/** Prints an estimate for people. */
final class EstimateReport {
    private static final double MEGABYTE = 1e6;

    private final Estimate estimate;
    private final PrintWriter out;

    EstimateReport(Estimate estimate, PrintWriter out) {
        this.estimate = estimate;
        this.out = out;
    }

    /** @param cost in an object store; null: of no interest */
    void print(@Nullable StoreCost cost) {
        printData();
        printStored();
        printMemory();
        printIndex();
        printSharing();
        printSsd();
        printRestores();
        if (cost != null) {
            printCost(cost);
        }
    }

    private void printCost(StoreCost cost) {
        out.println();
        out.println("in an object store, in the currency of its prices");
        line(
                "upload",
                money(cost.upload()) + " once, for the requests that put " + ByteSize.rounded(cost.storedBytes()));
        line("a month", money(cost.month()) + " at most:");
        line("", money(cost.monthStored()) + " for what is stored");
        line(
                "",
                money(cost.monthData()) + " for requests that put the " + ByteSize.rounded(cost.changedBytes())
                        + " that are replaced each day");
        if (cost.monthDeletedEarly() > 0) {
            line("", money(cost.monthDeletedEarly()) + " at most for what is replaced before its least days are over");
        }
        line("", money(cost.monthSyncs()) + " at most for requests that make changes durable, all day");
        line("", money(cost.monthLease()) + " for the lease of a volume that is always mounted");
        line("restore", money(cost.restore()) + " for reading all of it once");
    }

    private static String money(double cost) {
        return String.format(Locale.ROOT, "%.2f", cost);
    }

    private void printData() {
        line("files", count(estimate.files()) + ", " + ByteSize.rounded(estimate.bytes()));
        if (!estimate.whole()) {
            line(
                    "read",
                    String.format(
                            Locale.ROOT,
                            "%s, %.1f %%: %s",
                            ByteSize.rounded(estimate.readBytes()),
                            100.0 * estimate.readBytes() / Math.max(1, estimate.bytes()),
                            estimate.stopped()
                                    ? "stopped. Figures count the data that was read; they are no bound for the rest"
                                    : "a sample. Figures count it; +- does not include the "
                                            + "error of drawing its pieces"));
        }
        if (estimate.unreadable() > 0) {
            line("not readable", count(estimate.unreadable()) + " files or folders, named above; they do not count");
        }
        if (estimate.passedOver() > 0) {
            line("skipped", count(estimate.passedOver()) + " links, further names of a file, devices");
        }
        line("holes and zeros", withShare(estimate.zeroBytes(), estimate.readBytes()) + ": not stored");
    }

    private void printStored() {
        line("chunks", rounded(estimate.chunks()) + " different ones, " + count(estimate.references()) + " references");
        if (estimate.chunkShare() < 1) {
            line(
                    "",
                    String.format(
                            Locale.ROOT,
                            "1 of %.0f was examined; +- is one standard error",
                            1 / estimate.chunkShare()));
        }
        line("unique", size(estimate.uniqueBytes()) + " of " + ByteSize.rounded(estimate.dataBytes()));
        line("deduplication", ratio(estimate.dedupRatio()) + (estimate.isSample() ? " or more" : ""));
        line("compression", ratio(estimate.compressionRatio()));
        line("stored", size(estimate.storedBytes()));
        line("total", ratio(estimate.totalRatio()) + " with zeros" + (estimate.isSample() ? ", or more" : ""));
        if (estimate.isSample()) {
            line(
                    "stored of all",
                    size(estimate.wholeStoredBytesAtMost())
                            + " at most, if the rest is like the sample; duplicates of data that was "
                            + "not read are not found");
        }
    }

    private void printMemory() {
        Estimate.Memory memory = estimate.memory();
        line(
                "in addition",
                ByteSize.rounded(memory.indexBytes()) + " of index, " + ByteSize.rounded(memory.recipeBytes())
                        + " of recipes");
        line(
                "memory",
                ByteSize.rounded(memory.filterBytes())
                        + " for the filters of a rocksdb index, the default: --memory-budget="
                        + ByteSize.exact(memory.budgetBytes()) + " or more");
    }

    private void printIndex() {
        Estimate.Index index = estimate.index();
        line(
                "index",
                index.indexClass() + ", " + ByteSize.rounded(index.memoryBytes()) + " of memory for "
                        + count(index.chunks()) + " chunks, --memory-budget=" + ByteSize.exact(index.budgetBytes())
                        + " or more: " + index.reason());
    }

    private void printSharing() {
        out.println();
        out.println("references     chunks        their bytes   of the bytes of a full restore");
        for (Estimate.ReferenceRow row : estimate.sharing()) {
            out.printf(
                    Locale.ROOT,
                    ">= %-4d  %12s %18s   %s%n",
                    row.atLeast(),
                    rounded(row.chunks()),
                    size(row.bytes()),
                    percent(row.readShare()));
        }
    }

    private void printSsd() {
        out.println();
        out.println("of a full restore from the SSD   capacity     memory   chunks with references");
        for (Estimate.SsdRow row : estimate.ssd()) {
            out.printf(
                    Locale.ROOT,
                    "%29.0f %%  %9s  %9s   >= %d%s%n",
                    100 * row.target(),
                    ByteSize.rounded(row.bytes()),
                    ByteSize.rounded(row.mapTableBytes()),
                    row.leastReferences(),
                    row.reachable()
                            ? ""
                            : String.format(
                                    Locale.ROOT, "; shared chunks give at most %.1f %%", 100 * row.readShare()));
        }
    }

    private void printRestores() {
        Estimate.Disk disk = estimate.disk();
        out.println();
        out.printf(
                Locale.ROOT,
                "restore from a disk with a seek of %.1f ms and %.0f MB/s%n",
                disk.seekMillis(),
                disk.bytesPerSecond() / MEGABYTE);
        out.println("     data        new   requests  disk reads      MB/s     plain");
        List<Estimate.RestoreRow> paths = estimate.restores().size() > 1 ? estimate.restores() : List.of();
        paths.forEach(this::printRestore);
        printRestore(estimate.restore());
    }

    private void printRestore(Estimate.RestoreRow row) {
        out.printf(
                Locale.ROOT,
                "%9s  %9s  %9d   %9s  %8s  %8.1f  %s%n",
                ByteSize.rounded(row.dataBytes()),
                ByteSize.rounded(Math.round(row.newBytes().value())),
                row.requests(),
                ByteSize.rounded(row.diskBytes()),
                speed(row.bytesPerSecond()),
                row.plainBytesPerSecond() / MEGABYTE,
                row.name());
    }

    private static String speed(@Nullable Double bytesPerSecond) {
        return bytesPerSecond == null ? "–" : String.format(Locale.ROOT, "%.1f", bytesPerSecond / MEGABYTE);
    }

    private void line(String what, String value) {
        out.printf(Locale.ROOT, "%-16s %s%n", what, value);
    }

    private static String count(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    private static String withShare(long bytes, long all) {
        return String.format(Locale.ROOT, "%s, %.1f %%", ByteSize.rounded(bytes), 100.0 * bytes / Math.max(1, all));
    }

    private static String rounded(Figure figure) {
        return count(Math.round(figure.value())) + error(figure, error -> count(Math.round(error)));
    }

    private static String size(Figure figure) {
        return ByteSize.rounded(Math.round(figure.value()))
                + error(figure, error -> ByteSize.rounded(Math.round(error)));
    }

    private static String ratio(Figure figure) {
        return String.format(Locale.ROOT, "%.3f : 1", figure.value())
                + error(figure, error -> String.format(Locale.ROOT, "%.3f", error));
    }

    private static String percent(Figure figure) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * figure.value())
                + error(figure, error -> String.format(Locale.ROOT, "%.2f", 100 * error));
    }

    private static String error(Figure figure, DoubleFunction<String> writing) {
        return figure.standardError() == 0 ? "" : " +- " + writing.apply(figure.standardError());
    }
}
