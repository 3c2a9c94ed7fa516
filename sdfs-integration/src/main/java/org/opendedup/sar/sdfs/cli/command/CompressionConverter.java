package org.opendedup.sar.sdfs.cli.command;

import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opendedup.sar.container.format.Compression;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts the value of {@code --chunk-store-compress}: a codec, with an optional level for zstd. */
public final class CompressionConverter implements ITypeConverter<CompressionConverter.Choice> {
    private static final Pattern SYNTAX = Pattern.compile("none|lz4|zstd(?::(\\d{1,2}))?");

    /** A codec, and its level if one was given. */
    public record Choice(Compression.Codec codec, OptionalInt level) {}

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
