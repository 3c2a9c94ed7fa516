package org.opendedup.sar.sdfs.cli.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.disk.DiskStatus;
import org.opendedup.sar.restore.lookahead.StreamStatus;

/** Reports the sequential readers of a volume, as {@code sdfscli VOLUME top} shows them. */
public final class ReadersReport {
    private static final String LINE = "%12s %10s %5s %8s %10s %10s %5s %5s %5s %10s%n";

    private ReadersReport() {}

    /** Returns the report that the daemon sends; the keys are stable. */
    public static Map<String, Object> of(List<StreamStatus> readers, DiskStatus disk) {
        List<Map<String, Object>> entries = new ArrayList<>();
        readers.stream()
                .sorted(Comparator.comparingDouble(StreamStatus::megabytesPerSecond)
                        .reversed())
                .forEach(reader -> entries.add(entry(reader)));
        var report = new LinkedHashMap<String, Object>();
        report.put("readers", entries);
        report.put("disk", entry(disk));
        return report;
    }

    private static Map<String, Object> entry(DiskStatus disk) {
        DiskModel model = disk.model();
        var entry = new LinkedHashMap<String, Object>();
        entry.put("source", model.source().name().toLowerCase(Locale.ROOT));
        entry.put("skipMillis", model.skipNanos() / 1e6);
        entry.put("seekMillis", model.seekNanos() / 1e6);
        entry.put("mbPerSecond", model.bytesPerSecond() / 1e6);
        entry.put("gapBytes", model.gapBytes());
        entry.put("requestsAtOnce", disk.requestsAtOnce());
        entry.put("readers", disk.readers());
        entry.put("waiting", disk.waiting());
        entry.put("background", disk.background());
        return entry;
    }

    private static Map<String, Object> entry(StreamStatus reader) {
        var entry = new LinkedHashMap<String, Object>();
        entry.put("inode", reader.inode());
        entry.put("offset", reader.offset());
        entry.put("fileBytes", reader.size());
        entry.put("readBytes", reader.readBytes());
        entry.put("seconds", reader.seconds());
        entry.put("mbPerSecond", reader.megabytesPerSecond());
        entry.put("containerReads", reader.containerReads());
        entry.put("diskBytes", reader.diskBytes());
        entry.put("ssdBytes", reader.ssdBytes());
        entry.put("memoryBytes", reader.memoryBytes());
        entry.put("heldBytes", reader.heldBytes());
        entry.put("readAmplification", reader.readAmplification());
        return entry;
    }

    /** Returns the text for people: a line for the disk, and one for each reader. */
    public static String text(Map<String, Object> report) {
        return (report.get("disk") instanceof Map<?, ?> disk ? diskLine(disk) : "") + readers(report);
    }

    private static String diskLine(Map<?, ?> disk) {
        return String.format(
                Locale.ROOT,
                "disk (%s): skip %.2f ms, seek %.2f ms, %.0f MB/s; gaps up to %s are read; %d at once, %d waiting,"
                        + " %d in the background%n",
                disk.get("source"),
                number(disk, "skipMillis"),
                number(disk, "seekMillis"),
                number(disk, "mbPerSecond"),
                size(disk, "gapBytes"),
                (long) number(disk, "requestsAtOnce"),
                (long) number(disk, "waiting"),
                (long) number(disk, "background"));
    }

    private static String readers(Map<String, Object> report) {
        if (!(report.get("readers") instanceof List<?> readers) || readers.isEmpty()) {
            return "No sequential readers." + System.lineSeparator();
        }
        var text = new StringBuilder(String.format(
                LINE, "inode", "at", "of", "MB/s", "containers", "from disk", "amp", "SSD", "mem", "held"));
        for (Object reader : readers) {
            if (reader instanceof Map<?, ?> entry) {
                text.append(line(entry));
            }
        }
        return text.toString();
    }

    private static String line(Map<?, ?> reader) {
        double read = Math.max(1, number(reader, "readBytes"));
        return String.format(
                Locale.ROOT,
                LINE,
                (long) number(reader, "inode"),
                size(reader, "offset"),
                percent(number(reader, "offset"), number(reader, "fileBytes")),
                String.format(Locale.ROOT, "%.1f", number(reader, "mbPerSecond")),
                (long) number(reader, "containerReads"),
                size(reader, "diskBytes"),
                String.format(Locale.ROOT, "%.2f", number(reader, "readAmplification")),
                percent(number(reader, "ssdBytes"), read),
                percent(number(reader, "memoryBytes"), read),
                size(reader, "heldBytes"));
    }

    private static double number(Map<?, ?> reader, String key) {
        return reader.get(key) instanceof Number number ? number.doubleValue() : 0;
    }

    private static String size(Map<?, ?> reader, String key) {
        return ByteSize.rounded((long) number(reader, key));
    }

    private static String percent(double part, double whole) {
        return whole == 0 ? "-" : String.format(Locale.ROOT, "%.0f%%", 100 * part / whole);
    }
}
