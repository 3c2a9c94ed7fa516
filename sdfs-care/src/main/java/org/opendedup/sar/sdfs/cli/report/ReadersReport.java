package org.opendedup.sar.sdfs.cli.report;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.disk.DiskStatus;
import org.opendedup.sar.restore.lookahead.StreamStatus;

/** The sequential readers of a volume, as {@code sdfscli VOLUME top} shows them. The names are stable. */
public record ReadersReport(List<Reader> readers, Disk disk) {
    private static final String LINE = "%12s %10s %5s %8s %10s %10s %5s %5s %5s %10s%n";

    /** What the disk is taken for, and who uses it. */
    public record Disk(
            String source,
            double skipMillis,
            double seekMillis,
            double mbPerSecond,
            long gapBytes,
            int requestsAtOnce,
            int readers,
            int waiting,
            int background) {
        private static Disk of(DiskStatus disk) {
            DiskModel model = disk.model();
            return new Disk(
                    model.source().name().toLowerCase(Locale.ROOT),
                    model.skipNanos() / 1e6,
                    model.seekNanos() / 1e6,
                    model.bytesPerSecond() / 1e6,
                    model.gapBytes(),
                    disk.requestsAtOnce(),
                    disk.readers(),
                    disk.waiting(),
                    disk.background());
        }

        private String line() {
            return String.format(
                    Locale.ROOT,
                    "disk (%s): skip %.2f ms, seek %.2f ms, %.0f MB/s; gaps up to %s are read; %d at once, %d waiting,"
                            + " %d in the background%n",
                    source,
                    skipMillis,
                    seekMillis,
                    mbPerSecond,
                    ByteSize.rounded(gapBytes),
                    requestsAtOnce,
                    waiting,
                    background);
        }
    }

    /** One reader. */
    public record Reader(
            long inode,
            long offset,
            long fileBytes,
            long readBytes,
            double seconds,
            double mbPerSecond,
            long containerReads,
            long diskBytes,
            long ssdBytes,
            long memoryBytes,
            long heldBytes,
            double readAmplification) {
        private static Reader of(StreamStatus reader) {
            return new Reader(
                    reader.inode(),
                    reader.offset(),
                    reader.size(),
                    reader.readBytes(),
                    reader.seconds(),
                    reader.megabytesPerSecond(),
                    reader.containerReads(),
                    reader.diskBytes(),
                    reader.ssdBytes(),
                    reader.memoryBytes(),
                    reader.heldBytes(),
                    reader.readAmplification());
        }

        private String line() {
            double read = Math.max(1, readBytes);
            return String.format(
                    Locale.ROOT,
                    LINE,
                    inode,
                    ByteSize.rounded(offset),
                    percent(offset, fileBytes),
                    String.format(Locale.ROOT, "%.1f", mbPerSecond),
                    containerReads,
                    ByteSize.rounded(diskBytes),
                    String.format(Locale.ROOT, "%.2f", readAmplification),
                    percent(ssdBytes, read),
                    percent(memoryBytes, read),
                    ByteSize.rounded(heldBytes));
        }
    }

    public static ReadersReport of(List<StreamStatus> readers, DiskStatus disk) {
        return new ReadersReport(
                readers.stream()
                        .sorted(Comparator.comparingDouble(StreamStatus::megabytesPerSecond)
                                .reversed())
                        .map(Reader::of)
                        .toList(),
                Disk.of(disk));
    }

    /** Returns the text for people: a line for the disk, and one for each reader. */
    public String text() {
        var text = new StringBuilder(disk.line());
        if (readers.isEmpty()) {
            return text.append("No sequential readers.")
                    .append(System.lineSeparator())
                    .toString();
        }
        text.append(String.format(
                LINE, "inode", "at", "of", "MB/s", "containers", "from disk", "amp", "SSD", "mem", "held"));
        readers.forEach(reader -> text.append(reader.line()));
        return text.toString();
    }

    private static String percent(double part, double whole) {
        return whole == 0 ? "-" : String.format(Locale.ROOT, "%.0f%%", 100 * part / whole);
    }
}
