package org.opendedup.sar.chunk;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Finds runs of zero bytes, eight bytes at a time. */
final class ZeroRuns {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private ZeroRuns() {}

    /** Returns the number of zero bytes at the beginning of {@code data[from .. to)}. */
    static int length(byte[] data, int from, int to) {
        int i = from;
        for (; i + Long.BYTES <= to; i += Long.BYTES) {
            long bytes = (long) LONG.get(data, i);
            if (bytes != 0) {
                return i - from + Long.numberOfTrailingZeros(bytes) / Byte.SIZE;
            }
        }
        while (i < to && data[i] == 0) {
            i++;
        }
        return i - from;
    }
}
