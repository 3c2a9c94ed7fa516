package org.opendedup.sar.sdfs.config;

import java.util.Locale;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opendedup.sar.container.format.Compression;

/** The value of {@code --chunk-store-compress}: a codec, and its level if one was given. */
public record CompressionChoice(Compression.Codec codec, OptionalInt level) {
    private static final Pattern SYNTAX = Pattern.compile("(none|lz4|zstd)(?:(?<=zstd):(\\d{1,2}))?");

    static CompressionChoice parse(String text) {
        Matcher matcher = SYNTAX.matcher(text);
        Checks.check(matcher.matches(), "'" + text + "' is no compression; use zstd, zstd:LEVEL, lz4 or none");
        String level = matcher.group(2);
        return new CompressionChoice(
                Compression.Codec.valueOf(matcher.group(1).toUpperCase(Locale.ROOT)),
                level == null ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(level)));
    }

    /** Returns the text that is parsed. */
    @Override
    public String toString() {
        String name = OptionKind.spelling(codec);
        return level.isPresent() ? name + ":" + level.getAsInt() : name;
    }
}
