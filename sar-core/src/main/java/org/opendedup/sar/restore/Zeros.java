package org.opendedup.sar.restore;

import java.nio.ByteBuffer;

/** Zero runs of a recipe, as a reader gets them. */
final class Zeros {
    private Zeros() {}

    static void put(ByteBuffer target, int length) {
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
