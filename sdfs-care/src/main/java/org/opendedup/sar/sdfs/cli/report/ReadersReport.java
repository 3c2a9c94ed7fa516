package org.opendedup.sar.sdfs.cli.report;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.disk.DiskStatus;
import org.opendedup.sar.restore.lookahead.StreamStatus;
import org.opendedup.sar.sdfs.jmx.DiskFigures;
import org.opendedup.sar.sdfs.jmx.StreamFigures;

/** The sequential readers of a volume, as {@code sdfscli VOLUME top} shows them. The names are stable. */
public record ReadersReport(List<StreamFigures> readers, DiskFigures disk) {
    private static final String LINE = "%12s %10s %5s %8s %10s %10s %5s %5s %5s %10s%n";

    public static ReadersReport of(List<StreamStatus> readers, DiskStatus disk) {
        return new ReadersReport(
                readers.stream()
                        .sorted(Comparator.comparingDouble(StreamStatus::megabytesPerSecond)
                                .reversed())
                        .map(StreamFigures::of)
                        .toList(),
                DiskFigures.of(disk));
    }

    /** Returns the text for people: a line for the disk, and one for each reader. */
    public String text() {
        var text = new StringBuilder(line(disk));
        if (readers.isEmpty()) {
            return text.append("No sequential readers.")
                    .append(System.lineSeparator())
                    .toString();
        }
        text.append(String.format(
                LINE, "inode", "at", "of", "MB/s", "containers", "from disk", "amp", "SSD", "mem", "held"));
        readers.forEach(reader -> text.append(line(reader)));
        return text.toString();
    }

    private static String line(DiskFigures disk) {
        return String.format(
                Locale.ROOT,
                "disk (%s): skip %.2f ms, seek %.2f ms, %.0f MB/s; gaps up to %s are read; %d at once, %d waiting,"
                        + " %d in the background%n",
                disk.source(),
                disk.skipMillis(),
                disk.seekMillis(),
                disk.mbPerSecond(),
                ByteSize.rounded(disk.gapBytes()),
                disk.requestsAtOnce(),
                disk.waiting(),
                disk.background());
    }

    private static String line(StreamFigures reader) {
        double read = Math.max(1, reader.readBytes());
        return String.format(
                Locale.ROOT,
                LINE,
                reader.inode(),
                ByteSize.rounded(reader.offset()),
                percent(reader.offset(), reader.fileBytes()),
                String.format(Locale.ROOT, "%.1f", reader.mbPerSecond()),
                reader.containerReads(),
                ByteSize.rounded(reader.diskBytes()),
                String.format(Locale.ROOT, "%.2f", reader.readAmplification()),
                percent(reader.ssdBytes(), read),
                percent(reader.memoryBytes(), read),
                ByteSize.rounded(reader.heldBytes()));
    }

    private static String percent(double part, double whole) {
        return whole == 0 ? "-" : String.format(Locale.ROOT, "%.0f%%", 100 * part / whole);
    }
}
