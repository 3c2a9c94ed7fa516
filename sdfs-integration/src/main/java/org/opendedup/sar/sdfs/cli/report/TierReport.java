package org.opendedup.sar.sdfs.cli.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.raw.MigrationPolicy;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.jmx.FastTierFigures;
import org.opendedup.sar.sdfs.jmx.FastTierSource;
import org.opendedup.sar.volume.raw.FastTier.FileStatus;

/** Reports as JSON what the {@code tier} commands show. The keys are stable. */
public final class TierReport {
    /** Bytes of the names of lost files in a report; a reply has at most 64 KB. */
    private static final int NAME_BYTES_MAX = 32 << 10;

    private TierReport() {}

    /**
     * Returns the state of the fast tier.
     *
     * @param location folder on the SSD; empty without one
     * @param lost paths of lost files
     */
    public static Map<String, Object> of(FastTierSource tier, String location, List<String> lost) throws IOException {
        Map<String, Object> report = Json.values(FastTierFigures.of(tier));
        report.put("location", location);
        report.put("lost", bounded(lost));
        return report;
    }

    private static List<String> bounded(List<String> names) {
        var some = new ArrayList<String>();
        int bytes = 0;
        for (String name : names) {
            String line = Printable.line(name);
            bytes += line.getBytes(StandardCharsets.UTF_8).length + 4;
            if (bytes > NAME_BYTES_MAX) {
                break;
            }
            some.add(line);
        }
        return some;
    }

    /**
     * Returns where a file is, or new files of a folder are stored.
     *
     * @param placement where new files there are stored first
     * @param file what is known of a file; null for a folder
     */
    public static Map<String, Object> of(String placement, @Nullable FileStatus file, RawSettings settings) {
        var report = new LinkedHashMap<String, Object>();
        report.put("type", file == null ? "folder" : "file");
        report.put("newFiles", placement);
        if (file != null) {
            report.put("place", file.place().name().toLowerCase(Locale.ROOT).replace('_', '-'));
            report.put("bytes", file.bytes());
            report.put(
                    "accessed", file.accessedMs() == 0 ? "" : JobReport.time(Instant.ofEpochMilli(file.accessedMs())));
            report.put("inUse", file.inUse());
            report.put("pinned", file.pinned());
            report.put("small", file.bytes() <= MigrationPolicy.SMALL_BYTES);
            report.put("highPercent", settings.highPercent());
            report.put("journalSeconds", settings.copyAfterS());
            report.put("migrationPolicy", settings.rule().toString());
        }
        return report;
    }
}
