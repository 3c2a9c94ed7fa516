package org.opendedup.sar.sdfs.cli.command;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts an option to a constant of an enum, written in lower case with dashes, as in the volume file. */
public abstract class ChoiceConverter<E extends Enum<E>> implements ITypeConverter<E> {
    private final Class<E> type;

    public ChoiceConverter(Class<E> type) {
        this.type = type;
    }

    @Override
    public E convert(String text) {
        return Arrays.stream(type.getEnumConstants())
                .filter(constant -> spelling(constant).equals(text))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException("'" + text + "' is not one of "
                        + Arrays.stream(type.getEnumConstants())
                                .map(ChoiceConverter::spelling)
                                .collect(Collectors.joining(", "))));
    }

    private static String spelling(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
