package org.opendedup.sar.sdfs.cli.report;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.config.SarParameters;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.volume.config.VolumeConfig;

/** Reports a volume's settings, for people and as JSON. The keys are stable. */
public final class DefinitionReport {
    private DefinitionReport() {}

    public static Map<String, Object> of(Path file, RunFiles files) {
        VolumeDefinition definition = files.definition();
        VolumeConfig config = definition.config();
        var report = new LinkedHashMap<String, Object>();
        report.put("name", config.name());
        report.put("volumeFile", file.toString());
        report.put("basePath", definition.basePath().toString());
        report.put("dataLocation", config.locations().data().toString());
        report.put("metadataLocation", config.locations().metadata().toString());
        report.put("hashDbLocation", config.locations().hashDb().toString());
        report.put("indexSsdCapacityBytes", config.indexPlacement().ssdCapacityBytes());
        report.put("logFile", files.log().toString());
        report.put("controlSocket", files.socket().toString());
        report.put("capacityBytes", config.capacityBytes());
        report.put("maximumFullPercentage", config.maximumFullPercentage());
        report.put("hashType", config.chunking().name());
        report.put("compression", compression(config.compression()));
        report.put("recompress", definition.recompress().toString());
        report.put("frameBytes", config.compression().frameBytes());
        report.put("ioChunkBytes", config.pageBytes());
        report.put("writeThreads", config.writeThreads());
        report.put("memoryBudgetBytes", config.memoryBudgetBytes());
        report.put("garbageCollectionSchedule", definition.garbageCollectionSchedule());
        report.put("scrubSchedule", definition.scrubSchedule());
        report.put("metadataBackupInterval", definition.backups().intervalText());
        report.put("metadataBackupsKept", definition.backups().keep());
        report.put("sar", sar(definition.sar()));
        report.put("fastTier", fastTier(definition.raw()));
        return report;
    }

    /** Returns the settings of the fast tier for new files; its capacity is 0 without one. */
    private static Map<String, Object> fastTier(RawSettings settings) {
        var report = new LinkedHashMap<String, Object>();
        report.put("mode", settings.placement().toString());
        report.put("rawCapacityBytes", settings.capacityBytes());
        report.put("highPercent", settings.highPercent());
        report.put("lowPercent", settings.lowPercent());
        report.put("journalSeconds", settings.copyAfterS());
        report.put("migrationPolicy", settings.rule().toString());
        return report;
    }

    private static Map<String, Object> sar(SarSettings settings) {
        var report = new LinkedHashMap<String, Object>();
        report.put("ssdLocation", Objects.toString(settings.ssdLocation(), ""));
        report.putAll(SarParameters.of(settings.tier()));
        return report;
    }

    public static String compression(Compression compression) {
        String codec = compression.codec().name().toLowerCase(Locale.ROOT);
        return compression.codec() == Compression.Codec.ZSTD ? codec + ":" + compression.level() : codec;
    }

    /** Returns one line a value, with sizes in units. */
    public static String table(Map<String, Object> report) {
        return table("", report);
    }

    private static String table(String prefix, Map<String, Object> report) {
        return report.entrySet().stream()
                .map(entry -> entry.getValue() instanceof Map<?, ?>
                        ? table(entry.getKey() + " ", Json.object(report, entry.getKey()))
                        : String.format(
                                "  %-24s %s%n", prefix + entry.getKey(), value(entry.getKey(), entry.getValue())))
                .collect(Collectors.joining());
    }

    private static String value(String key, Object value) {
        return key.endsWith("Bytes") && value instanceof Number number
                ? ByteSize.exact(number.longValue())
                : value.toString();
    }
}
