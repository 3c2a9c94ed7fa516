package org.opendedup.sar.restore.frame;

import java.nio.ByteBuffer;

/** Writes the zero runs of a recipe into a reader's buffer. */
public final class Zeros {
    private Zeros() {}

    public static void put(ByteBuffer target, int length) {
        int left = length;
        while (left >= Long.BYTES) {
            target.putLong(0);
            left -= Long.BYTES;
        }
        while (left-- > 0) {
            target.put((byte) 0);
        }
    }
}
