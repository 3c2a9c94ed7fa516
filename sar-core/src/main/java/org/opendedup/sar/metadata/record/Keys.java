package org.opendedup.sar.metadata.record;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The database's keys. Numbers in them are 8 bytes, big-endian, so that byte order is number order. */
public final class Keys {
    public static final int LONG_BYTES = 8;

    /** Less or equal to every key. */
    public static final byte[] FIRST = {};

    /** Greater than every key: numbers at the beginning of keys are never negative. */
    public static final byte[] END = {(byte) 0xff};

    private static final VarHandle LONG_BE = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private Keys() {}

    public static byte[] of(long number) {
        byte[] key = new byte[LONG_BYTES];
        LONG_BE.set(key, 0, number);
        return key;
    }

    public static byte[] of(long first, long second) {
        byte[] key = new byte[2 * LONG_BYTES];
        LONG_BE.set(key, 0, first);
        LONG_BE.set(key, LONG_BYTES, second);
        return key;
    }

    public static byte[] of(long number, byte[] name) {
        byte[] key = new byte[LONG_BYTES + name.length];
        LONG_BE.set(key, 0, number);
        System.arraycopy(name, 0, key, LONG_BYTES, name.length);
        return key;
    }

    public static byte[] of(long first, long second, byte[] name) {
        byte[] key = new byte[2 * LONG_BYTES + name.length];
        LONG_BE.set(key, 0, first);
        LONG_BE.set(key, LONG_BYTES, second);
        System.arraycopy(name, 0, key, 2 * LONG_BYTES, name.length);
        return key;
    }

    public static byte[] join(byte[] prefix, byte[] rest) {
        byte[] key = Arrays.copyOf(prefix, prefix.length + rest.length);
        System.arraycopy(rest, 0, key, prefix.length, rest.length);
        return key;
    }

    public static byte[] of(String name) {
        return name.getBytes(StandardCharsets.US_ASCII);
    }

    public static long longAt(byte[] key, int offset) {
        return (long) LONG_BE.get(key, offset);
    }
}
