package org.opendedup.sar.common;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * MurmurHash3_x64_128 of Austin Appleby, with an unsigned seed of 32 bits. Guava's has the same results for seeds below
 * 2 to the power of 31 only.
 */
final class Murmur3 {
    private static final int BLOCK_BYTES = 16;
    private static final long C1 = 0x87c37b91114253d5L;
    private static final long C2 = 0x4cf5ad432745937fL;
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Murmur3() {}

    /** Writes the 16 bytes of the hash of {@code length} bytes from {@code from} on to {@code target}. */
    static void hash(byte[] bytes, int from, int length, int seed, byte[] target, int at) {
        long high = Integer.toUnsignedLong(seed);
        long low = high;
        int end = from + length / BLOCK_BYTES * BLOCK_BYTES;
        for (int i = from; i < end; i += BLOCK_BYTES) {
            low ^= mixLow((long) LONG.get(bytes, i));
            low = (Long.rotateLeft(low, 27) + high) * 5 + 0x52dce729;
            high ^= mixHigh((long) LONG.get(bytes, i + Long.BYTES));
            high = (Long.rotateLeft(high, 31) + low) * 5 + 0x38495ab5;
        }
        // What is left is a block that ends with zeros, which change nothing.
        byte[] tail = new byte[BLOCK_BYTES];
        System.arraycopy(bytes, end, tail, 0, from + length - end);
        low ^= mixLow((long) LONG.get(tail, 0)) ^ length;
        high ^= mixHigh((long) LONG.get(tail, Long.BYTES)) ^ length;
        low += high;
        high += low;
        low = finished(low);
        high = finished(high);
        low += high;
        high += low;
        LONG.set(target, at, low);
        LONG.set(target, at + Long.BYTES, high);
    }

    private static long mixLow(long word) {
        return Long.rotateLeft(word * C1, 31) * C2;
    }

    private static long mixHigh(long word) {
        return Long.rotateLeft(word * C2, 33) * C1;
    }

    private static long finished(long word) {
        long mixed = (word ^ word >>> 33) * 0xff51afd7ed558ccdL;
        mixed = (mixed ^ mixed >>> 33) * 0xc4ceb9fe1a85ec53L;
        return mixed ^ mixed >>> 33;
    }
}
