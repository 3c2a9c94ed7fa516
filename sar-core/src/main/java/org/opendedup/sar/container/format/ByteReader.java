package org.opendedup.sar.container.format;

import org.opendedup.sar.common.CorruptionException;

/**
 * Reads a byte range, whose checksum was checked, from front to back. Anything that does not fit in it is reported as
 * corruption of {@code place}, whose string names it.
 */
public final class ByteReader {
    private final byte[] bytes;
    private final int end;
    private final Object place;
    private int position;

    public ByteReader(byte[] bytes, int from, int to, Object place) {
        this.bytes = bytes;
        this.position = from;
        this.end = to;
        this.place = place;
    }

    public int position() {
        return position;
    }

    public int remaining() {
        return end - position;
    }

    int readByte() throws CorruptionException {
        skip(1);
        return bytes[position - 1] & 0xff;
    }

    /** Reads a varint of at most 31 bits. */
    public int readVarint() throws CorruptionException {
        int value = 0;
        for (int shift = 0; shift <= 28; shift += 7) {
            int next = readByte();
            value |= (next & 0x7f) << shift;
            if (next < 0x80) {
                if (value < 0 || (shift == 28 && next > 7)) {
                    break;
                }
                return value;
            }
        }
        throw new CorruptionException(place.toString(), -1, "a varint of at most 31 bits", "a longer one");
    }

    public void skip(int count) throws CorruptionException {
        if (count < 0 || count > remaining()) {
            throw new CorruptionException(place.toString(), -1, count + " more bytes", remaining() + " bytes");
        }
        position += count;
    }
}
