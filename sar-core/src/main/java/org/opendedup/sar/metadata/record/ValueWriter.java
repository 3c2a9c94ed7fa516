package org.opendedup.sar.metadata.record;

import java.util.Arrays;

/** Writes a record: bytes and varints (LEB128: seven bits per byte, least significant first). */
public final class ValueWriter {
    private byte[] bytes;
    private int length;

    public ValueWriter(int expectedBytes) {
        bytes = new byte[expectedBytes];
    }

    public ValueWriter writeByte(int value) {
        reserve(1);
        bytes[length++] = (byte) value;
        return this;
    }

    /** Writes a number from 0 up; a negative one would take ten bytes. */
    public ValueWriter writeVarint(long value) {
        reserve(10);
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            bytes[length++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        bytes[length++] = (byte) rest;
        return this;
    }

    /** Writes a number of either sign; small ones are short: 0, -1, 1, -2 become 0, 1, 2, 3. */
    public ValueWriter writeZigzag(long value) {
        return writeVarint(value << 1 ^ value >> 63);
    }

    public ValueWriter writeIntLittleEndian(int value) {
        reserve(4);
        for (int shift = 0; shift < 32; shift += 8) {
            bytes[length++] = (byte) (value >>> shift);
        }
        return this;
    }

    ValueWriter writeLongLittleEndian(long value) {
        return writeIntLittleEndian((int) value).writeIntLittleEndian((int) (value >>> 32));
    }

    public ValueWriter writeBytes(byte[] source) {
        reserve(source.length);
        System.arraycopy(source, 0, bytes, length, source.length);
        length += source.length;
        return this;
    }

    /** Returns the bytes written up to now; only the first {@link #length()} are valid. */
    public byte[] buffer() {
        return bytes;
    }

    public int length() {
        return length;
    }

    public byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }

    private void reserve(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(length + more, 2 * bytes.length));
        }
    }
}
