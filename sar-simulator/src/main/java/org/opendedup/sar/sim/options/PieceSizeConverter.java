package org.opendedup.sar.sim.options;

import org.opendedup.sar.common.ByteSize;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A size of 1 B to 1 GiB, as that of a container or a block. */
public final class PieceSizeConverter implements ITypeConverter<Integer> {
    private static final long MAX_BYTES = 1 << 30;

    @Override
    public Integer convert(String text) {
        try {
            long bytes = ByteSize.parse(text);
            if (bytes < 1 || bytes > MAX_BYTES) {
                throw new TypeConversionException(text + " is out of range: 1B to " + ByteSize.exact(MAX_BYTES));
            }
            return (int) bytes;
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
