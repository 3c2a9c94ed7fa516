package org.opendedup.sar.sdfs.cli;

import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opendedup.sar.container.Compression;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The value of {@code --chunk-store-compress}: a codec, zstd with a level if wanted. */
final class CompressionConverter implements ITypeConverter<CompressionConverter.Choice> {
    private static final Pattern SYNTAX = Pattern.compile("none|lz4|zstd(?::(\\d{1,2}))?");

    /** A codec, and the level if one was named. */
    record Choice(Compression.Codec codec, OptionalInt level) {}

    @Override
    public Choice convert(String text) {
        Matcher matcher = SYNTAX.matcher(text);
        if (!matcher.matches()) {
            throw new TypeConversionException("'" + text + "' is no compression; use zstd, zstd:LEVEL, lz4 or none");
        }
        String level = matcher.group(1);
        return switch (text.charAt(0)) {
            case 'n' -> new Choice(Compression.Codec.NONE, OptionalInt.empty());
            case 'l' -> new Choice(Compression.Codec.LZ4, OptionalInt.empty());
            default ->
                new Choice(
                        Compression.Codec.ZSTD,
                        level == null ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(level)));
        };
    }
}
