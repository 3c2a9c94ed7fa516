package org.opendedup.sar.restore.frame;

import java.nio.ByteBuffer;

/** Writes the zero runs of a recipe into a reader's buffer. */
public final class Zeros {
    private static final byte[] BLOCK = new byte[32 << 10];

    private Zeros() {}

    /** Puts {@code length} zeros. In blocks, because those are copied fast from the first call on. */
    public static void put(ByteBuffer target, int length) {
        for (int left = length; left > 0; left -= BLOCK.length) {
            target.put(BLOCK, 0, Math.min(left, BLOCK.length));
        }
    }
}
