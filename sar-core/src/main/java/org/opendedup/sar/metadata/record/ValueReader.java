package org.opendedup.sar.metadata.record;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/** Reads a record that {@link ValueWriter} wrote. Reading beyond its end throws a {@link CorruptionException}. */
public final class ValueReader {
    /**
     * Stands for the value of a record of an encrypted volume that was changed or exchanged after the volume's key
     * sealed it. Every reader refuses it as damaged, and says what it is.
     */
    public static final byte[] CHANGED = {};

    /**
     * Stands in the versions for a record that could not be read when it was replaced; a birth may be added to it.
     * Every reader refuses it as damaged, and says what it is. No record has the version 0.
     */
    public static final byte[] UNREAD = {0};

    private final byte[] bytes;
    private final int end;
    /** Where the bytes come from, if they are no record of the database. */
    private final @Nullable String source;

    private final String kind;
    private final long id;
    private int position;

    /** Reads all of {@code bytes}; error messages call the record {@code kind} {@code id}. */
    public ValueReader(byte[] bytes, String kind, long id) {
        this(bytes, bytes.length, kind, id);
    }

    public ValueReader(byte[] bytes, int end, String kind, long id) {
        this(bytes, end, null, kind, id);
    }

    private ValueReader(byte[] bytes, int end, @Nullable String source, String kind, long id) {
        this.bytes = bytes;
        this.end = end;
        this.source = source;
        this.kind = kind;
        this.id = id;
    }

    /** Reads bytes that are not of the database; error messages call them {@code kind} {@code number} of the source. */
    public static ValueReader of(byte[] bytes, String source, String kind, long number) {
        return new ValueReader(bytes, bytes.length, source, kind, number);
    }

    /** Reads the first byte of a record, its version; only one version of each record exists. */
    public ValueReader expectVersion(int known) throws CorruptionException, UnsupportedFormatException {
        if (isUnread()) {
            throw corruption("a record", "none");
        }
        int version = readByte();
        if (version != known) {
            throw new UnsupportedFormatException(place(), version, known);
        }
        return this;
    }

    public int readByte() throws CorruptionException {
        if (position == end) {
            throw corruption("more bytes", "the record's end");
        }
        return bytes[position++] & 0xff;
    }

    /** Reads a varint of 64 bits; as a signed number it may be negative. */
    public long readVarint() throws CorruptionException {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            int next = readByte();
            value |= (long) (next & 0x7f) << shift;
            if (next < 0x80) {
                return value;
            }
        }
        throw corruption("a varint of at most 10 bytes", "a longer one");
    }

    /** Reads a varint that must lie between 0 and {@code max}. */
    public long readVarint(long max) throws CorruptionException {
        long value = readVarint();
        if (value < 0 || value > max) {
            throw corruption("a number from 0 to " + max, Long.toUnsignedString(value));
        }
        return value;
    }

    /** Reads an int that was written as its 32 bits. */
    public int readInt() throws CorruptionException {
        return (int) readVarint(0xffff_ffffL);
    }

    public long readZigzag() throws CorruptionException {
        long value = readVarint();
        return value >>> 1 ^ -(value & 1);
    }

    int readIntLittleEndian() throws CorruptionException {
        int value = 0;
        for (int shift = 0; shift < 32; shift += 8) {
            value |= readByte() << shift;
        }
        return value;
    }

    long readLongLittleEndian() throws CorruptionException {
        return (readIntLittleEndian() & 0xffff_ffffL) | (long) readIntLittleEndian() << 32;
    }

    /** Passes over bytes. */
    ValueReader skip(int count) throws CorruptionException {
        if (count > remaining()) {
            throw corruption(count + " more bytes", remaining() + " bytes");
        }
        position += count;
        return this;
    }

    public byte[] readBytes(int count) throws CorruptionException {
        if (count > remaining()) {
            throw corruption(count + " more bytes", remaining() + " bytes");
        }
        position += count;
        return Arrays.copyOfRange(bytes, position - count, position);
    }

    public int remaining() {
        return end - position;
    }

    public void expectEnd() throws CorruptionException {
        if (position != end) {
            throw corruption("the record's end", remaining() + " more bytes");
        }
    }

    private boolean isUnread() {
        return bytes.length == UNREAD.length && bytes[0] == UNREAD[0];
    }

    public CorruptionException corruption(String expected, String found) {
        if (isUnread()) {
            return new CorruptionException(
                    place(), -1, "a record", "a note that it could not be read when it was replaced");
        }
        return bytes == CHANGED
                ? new CorruptionException(
                        place(), -1, "what the key of this volume sealed", "a record that was changed or exchanged")
                : new CorruptionException(place(), position, expected, found);
    }

    private String place() {
        return (source == null ? "metadata database" : source) + ", " + kind + " " + id;
    }
}
