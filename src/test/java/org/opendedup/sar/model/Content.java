package org.opendedup.sar.model;

/**
 * A piece of one of a few endless streams: {@code length} bytes from {@code skip} on. Stream 0 is all zeros. Because
 * there are few streams, written data is often a duplicate, aligned or shifted, of existing data.
 */
public record Content(int stream, long skip, int length) {

    public byte[] bytes() {
        byte[] bytes = new byte[length];
        if (stream != 0) {
            for (int i = 0; i < length; i++) {
                bytes[i] = at(skip + i);
            }
        }
        return bytes;
    }

    /** Every other group of 64 bytes is plain, so that it compresses. */
    private byte at(long position) {
        if ((position & 64) != 0) {
            return (byte) ('a' + stream);
        }
        long mixed = (position >>> 3) * 0x9E3779B97F4A7C15L + stream * 0xD1B54A32D192ED03L;
        mixed = (mixed ^ mixed >>> 30) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
        return (byte) (mixed >>> ((position & 7) * 8));
    }
}
