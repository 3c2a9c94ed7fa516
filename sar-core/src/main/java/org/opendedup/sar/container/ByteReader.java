package org.opendedup.sar.container;

import org.opendedup.sar.common.CorruptionException;

/** Reads a checked run of bytes front to back; whatever does not fit in it is corruption of {@code place}, whose string names it. */
final class ByteReader {
    private final byte[] bytes;
    private final int end;
    private final Object place;
    private int position;

    ByteReader(byte[] bytes, int from, int to, Object place) {
        this.bytes = bytes;
        this.position = from;
        this.end = to;
        this.place = place;
    }

    int position() {
        return position;
    }

    int remaining() {
        return end - position;
    }

    int readByte() throws CorruptionException {
        skip(1);
        return bytes[position - 1] & 0xff;
    }

    /** A varint of at most 31 bits. */
    int readVarint() throws CorruptionException {
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

    void skip(int count) throws CorruptionException {
        if (count < 0 || count > remaining()) {
            throw new CorruptionException(place.toString(), -1, count + " more bytes", remaining() + " bytes");
        }
        position += count;
    }
}
