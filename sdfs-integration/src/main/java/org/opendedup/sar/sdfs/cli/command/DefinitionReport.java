package org.opendedup.sar.sdfs.cli.command;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeOption;
import org.opendedup.sar.sdfs.config.VolumeOptions;

/** Reports a volume's settings, for people and as JSON. The keys are stable. */
public final class DefinitionReport {
    private DefinitionReport() {}

    public static Map<String, Object> of(Path file, RunFiles files) {
        return of(file, files, files.definition());
    }

    /** @param definition what the file has now */
    public static Map<String, Object> of(Path file, RunFiles files, VolumeDefinition definition) {
        var report = new LinkedHashMap<String, Object>();
        report.put(VolumeOptions.NAME.key(), definition.config().name());
        report.put("volumeFile", file.toString());
        report.put("logFile", files.log().toString());
        report.put("controlSocket", files.socket().toString());
        report.put("compression", compression(definition.config().compression()));
        var parts = new LinkedHashMap<String, Map<String, Object>>();
        for (VolumeOption<?> option : VolumeOptions.ALL) {
            Object value = definition.values().json(option);
            if (!option.key().isEmpty() && value != null) {
                parts.computeIfAbsent(option.part(), part -> new LinkedHashMap<>())
                        .put(option.key(), value);
            }
        }
        report.putAll(parts.remove(""));
        report.putAll(parts);
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
