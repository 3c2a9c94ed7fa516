package org.opendedup.sar.sdfs.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** An option's octal file mode, such as 0755. */
final class ModeConverter implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
        if (!text.matches("[0-7]{3,5}")) {
            throw new TypeConversionException("'" + text + "' is no octal mode, such as 0755");
        }
        return Integer.parseInt(text, 8);
    }
}
