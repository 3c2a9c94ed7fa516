package org.opendedup.sar.container.format;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;

/** A growing byte array that writes the format's little-endian integers and varints. For one thread. */
public final class Bytes {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private byte[] array;
    private int length;

    public Bytes(int capacity) {
        array = new byte[capacity];
    }

    /** Returns the array: the bytes written, followed by spare room; valid until the next change. */
    public byte[] array() {
        return array;
    }

    public int length() {
        return length;
    }

    public void clear() {
        length = 0;
    }

    /** Makes room for {@code more} bytes after the present ones. */
    void reserve(int more) {
        if (array.length - length < more) {
            array = Arrays.copyOf(array, Math.max(length + more, array.length * 2));
        }
    }

    /** Adds {@code more} bytes to the length that were put into {@link #array} directly. */
    void advance(int more) {
        length += more;
    }

    void putByte(int value) {
        reserve(1);
        array[length++] = (byte) value;
    }

    void putShort(int value) {
        putByte(value);
        putByte(value >>> 8);
    }

    public void putInt(int value) {
        reserve(Integer.BYTES);
        INT.set(array, length, value);
        length += Integer.BYTES;
    }

    void putLong(long value) {
        reserve(Long.BYTES);
        LONG.set(array, length, value);
        length += Long.BYTES;
    }

    /** Appends a varint: seven bits per byte, the lowest first; a set top bit means that another byte follows. */
    public void putVarint(int value) {
        int rest = value;
        while (rest >>> 7 != 0) {
            putByte((rest & 0x7f) | 0x80);
            rest >>>= 7;
        }
        putByte(rest);
    }

    public void putBytes(byte[] source, int offset, int count) {
        reserve(count);
        System.arraycopy(source, offset, array, length, count);
        length += count;
    }

    /** Appends the CRC-32C of the bytes from {@code from} to the end. */
    void putCrc(int from) {
        putInt(crc(array, from, length - from));
    }

    public ByteBuffer buffer() {
        return ByteBuffer.wrap(array, 0, length);
    }

    byte[] toArray() {
        return Arrays.copyOf(array, length);
    }

    public static int crc(byte[] bytes, int offset, int count) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, offset, count);
        return (int) crc.getValue();
    }

    static int getShort(byte[] bytes, int offset) {
        return (bytes[offset] & 0xff) | ((bytes[offset + 1] & 0xff) << 8);
    }

    static int getInt(byte[] bytes, int offset) {
        return (int) INT.get(bytes, offset);
    }

    static long getLong(byte[] bytes, int offset) {
        return (long) LONG.get(bytes, offset);
    }
}
