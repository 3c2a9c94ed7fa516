package org.opendedup.sar.sdfs.config;

import java.util.Locale;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opendedup.sar.container.format.Compression;

/** The value of {@code --chunk-store-compress}: a codec, and its level if one was given. */
public record CompressionChoice(Compression.Codec codec, OptionalInt level) {
    private static final int ZSTD_LEVEL = 1;
    private static final long FRAME_BYTES = 64 << 10;
    private static final Pattern SYNTAX = Pattern.compile("(none|lz4|zstd)(?:(?<=zstd):(\\d{1,2}))?");

    /** As below, with the default level and frames of the default size. */
    public OptionValues into(OptionValues values) {
        return into(values, ZSTD_LEVEL, FRAME_BYTES);
    }

    /**
     * Returns values with those that the volume file has for this choice.
     *
     * @param zstdLevel level of zstd if none was given
     * @param frameBytes bytes of a frame before compression
     */
    public OptionValues into(OptionValues values, int zstdLevel, long frameBytes) {
        return values.with(VolumeOptions.CODEC, codec)
                .with(VolumeOptions.CODEC_LEVEL, codec == Compression.Codec.ZSTD ? level.orElse(zstdLevel) : 0)
                .with(VolumeOptions.FRAME_SIZE, frameBytes);
    }

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
