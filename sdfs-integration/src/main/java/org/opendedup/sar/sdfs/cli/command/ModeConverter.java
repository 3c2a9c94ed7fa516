package org.opendedup.sar.sdfs.cli.command;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts an option's octal file mode, such as 0755. */
public final class ModeConverter implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
        if (!text.matches("[0-7]{3,5}")) {
            throw new TypeConversionException("'" + text + "' is no octal mode, such as 0755");
        }
        return Integer.parseInt(text, 8);
    }
}
