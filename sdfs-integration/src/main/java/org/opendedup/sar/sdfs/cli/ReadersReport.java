package org.opendedup.sar.sdfs.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.restore.StreamStatus;

/** The readers in sequence of a volume, as {@code sdfscli VOLUME top} shows them. */
final class ReadersReport {
    private static final String LINE = "%12s %10s %5s %8s %10s %10s %5s %5s %5s %10s%n";

    private ReadersReport() {}

    /** As sent by the daemon; the keys are stable. */
    static Map<String, Object> of(List<StreamStatus> readers) {
        List<Map<String, Object>> entries = new ArrayList<>();
        readers.stream()
                .sorted(Comparator.comparingDouble(StreamStatus::megabytesPerSecond)
                        .reversed())
                .forEach(reader -> entries.add(entry(reader)));
        var report = new LinkedHashMap<String, Object>();
        report.put("readers", entries);
        return report;
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

    /** For people: a line for each reader. */
    static String text(Map<String, Object> report) {
        if (!(report.get("readers") instanceof List<?> readers) || readers.isEmpty()) {
            return "Nobody reads in sequence." + System.lineSeparator();
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
