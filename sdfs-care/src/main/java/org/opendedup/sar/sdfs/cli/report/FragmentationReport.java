package org.opendedup.sar.sdfs.cli.report;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.volume.rewrite.Defragmentation;

/** Reports what {@code sdfscli VOLUME file} shows, as JSON with stable keys and for people. */
public final class FragmentationReport {
    private static final String LINE = "  %-24s %14s%s%n";

    private FragmentationReport() {}

    /** Returns what a defragmentation did, with the file before and after it. */
    public static Map<String, Object> of(Defragmentation done, DiskModel disk) {
        Map<String, Object> report = new LinkedHashMap<>(Json.values(done));
        report.put("before", of(done.before(), disk));
        report.put("after", of(done.after(), disk));
        return report;
    }

    public static Map<String, Object> of(FileFragmentation file, DiskModel disk) {
        var report = new LinkedHashMap<String, Object>();
        report.put("bytes", file.bytes());
        report.put("chunks", file.references());
        report.put("uniqueBytes", file.uniqueBytes());
        report.put("storedBytes", file.storedBytes());
        report.put("containers", file.containers());
        report.put("meanUse", file.meanUse());
        report.put("sparseContainers", file.sparseContainers());
        report.put("sparseShare", file.sparseShare());
        report.put("containerReads", file.containerReads());
        report.put("speedFactor", file.speedFactor());
        report.put("diskRequests", file.requests());
        report.put("diskBytes", file.diskBytes());
        report.put("diskSeconds", file.seconds(disk));
        report.put("restoreBytesPerSecond", file.bytesPerSecond(disk));
        return report;
    }

    /** Returns the lines for people, from a report. */
    public static String text(Map<String, Object> report) {
        long bytes = Json.number(report, "bytes");
        if (bytes == 0) {
            return "  holds no data: nothing is read from the disk for it";
        }
        return (line("data", ByteSize.rounded(bytes), " in " + Json.number(report, "chunks") + " chunks")
                        + line(
                                "stored",
                                ByteSize.rounded(Json.number(report, "storedBytes")),
                                ", compressed; "
                                        + ByteSize.rounded(Json.number(report, "uniqueBytes"))
                                        + " of different chunks")
                        + line("containers wanted", Json.number(report, "containers"), "")
                        + line(
                                "mean use of them",
                                percent(report, "meanUse"),
                                ", " + percent(report, "sparseShare") + " of them are used below 50 %")
                        + line("container reads", Json.number(report, "containerReads"), "")
                        + line("speed factor", decimal(report, "speedFactor"), " MiB for each container read")
                        + line(
                                "predicted restore",
                                megabytes(Json.decimal(report, "restoreBytesPerSecond")),
                                String.format(
                                        Locale.ROOT,
                                        " MB/s: %d disk requests for %s, %.2f s",
                                        Json.number(report, "diskRequests"),
                                        ByteSize.rounded(Json.number(report, "diskBytes")),
                                        Json.decimal(report, "diskSeconds"))))
                .stripTrailing();
    }

    private static String line(String name, Object value, String more) {
        return String.format(LINE, name, value, more);
    }

    private static String percent(Map<String, Object> report, String key) {
        return Math.round(100 * Json.decimal(report, key)) + " %";
    }

    private static String decimal(Map<String, Object> report, String key) {
        return String.format(Locale.ROOT, "%.2f", Json.decimal(report, key));
    }

    private static String megabytes(double bytesPerSecond) {
        return String.format(Locale.ROOT, "%.1f", bytesPerSecond / 1e6);
    }
}
