package org.opendedup.sar.sim.bench;

import java.nio.ByteBuffer;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/**
 * Chunks that exist as numbers only: fingerprint and place of each follow from its number, so that hundreds of millions
 * of them need no memory. Computing a fingerprint takes some 20 ns.
 */
final class NumberedChunks {
    static final int SEGMENT_CHUNKS = 256;
    static final int CHUNK_BYTES = 8192;
    static final int CONTAINER_CHUNKS = 512;
    /** Numbers from here on belong to chunks that are not stored. */
    static final long UNKNOWN = 1L << 60;

    private NumberedChunks() {}

    /** Returns a segment of {@link #SEGMENT_CHUNKS} chunks without fingerprints. */
    static Segment segment() {
        Segment segment = new Segment(SEGMENT_CHUNKS * CHUNK_BYTES);
        for (int i = 0; i < SEGMENT_CHUNKS; i++) {
            segment.add(0, CHUNK_BYTES, false);
        }
        return segment;
    }

    /** Returns the id under which a chunk is stored if chunks are stored in the order of their numbers. */
    static long placeOf(long number) {
        return ChunkId.of(containerOf(number), (int) (number % CONTAINER_CHUNKS));
    }

    static long containerOf(long number) {
        return 1 + number / CONTAINER_CHUNKS;
    }

    /** Sets random bytes that depend only on {@code number}. */
    static void setFingerprint(Segment segment, int chunk, long number) {
        ByteBuffer target =
                ByteBuffer.wrap(segment.fingerprints(), Segment.fingerprintOffset(chunk), Fingerprints.BYTES);
        for (int i = 0; i < Fingerprints.BYTES / Long.BYTES; i++) {
            target.putLong(mix(number * 4 + i));
        }
    }

    /** Sets bytes that look random and depend only on {@code number}; 64 KiB take some 10 µs. */
    static void fill(byte[] data, long number) {
        ByteBuffer target = ByteBuffer.wrap(data);
        long piece = number * data.length;
        while (target.remaining() >= Long.BYTES) {
            target.putLong(mix(piece++));
        }
        while (target.hasRemaining()) {
            target.put((byte) mix(piece++));
        }
    }

    /** Mixes the bits of a number, as SplitMix64 does. */
    static long mix(long value) {
        long z = (value + 1) * 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
