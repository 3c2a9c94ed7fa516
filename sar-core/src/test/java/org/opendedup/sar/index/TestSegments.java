package org.opendedup.sar.index;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/** Segments without data, with fingerprints made from numbers. */
public final class TestSegments {
    private TestSegments() {}

    /** A segment of the fingerprints from {@code first} to {@code first + count - 1}. */
    public static Segment of(long first, int count) {
        Segment segment = new Segment(4096);
        for (int i = 0; i < count; i++) {
            segment.add(0, 4096, false);
            setFingerprint(segment, i, first + i);
        }
        return segment;
    }

    /** Makes all chunks of a segment fresh: chunk {@code i} is in slot {@code i} of the container. */
    public static Segment setFresh(Segment segment, long container) {
        for (int i = 0; i < segment.count(); i++) {
            segment.setChunkId(i, ChunkId.of(container, i));
            segment.setFresh(i, true);
        }
        return segment;
    }

    /** Stores a segment of {@link #of} in a container, whatever the index knows of it. */
    public static void store(ChunkIndex index, long first, int count, long container) throws IOException {
        Segment segment = of(first, count);
        index.lookup(segment);
        index.insert(setFresh(segment, container));
    }

    /** Returns how many chunks of a segment are found; each must be where {@link #store} put it. */
    public static int found(ChunkIndex index, long first, int count, long container) throws IOException {
        Segment segment = of(first, count);
        index.lookup(segment);
        int found = 0;
        for (int i = 0; i < count; i++) {
            if (segment.hint(i) != ChunkId.NONE) {
                assertEquals(ChunkId.of(container, i), segment.hint(i));
                found++;
            }
        }
        return found;
    }

    /** Removes what {@link #store} put into a container, which is not covered any more. */
    public static void remove(ChunkIndex index, long first, int count, long container) throws IOException {
        BitSet slots = new BitSet();
        slots.set(0, count);
        index.uncover(container);
        index.remove(container, of(first, count).fingerprints(), slots);
    }

    public static void setFingerprint(Segment segment, int chunk, long number) {
        System.arraycopy(
                fingerprint(number), 0, segment.fingerprints(), Segment.fingerprintOffset(chunk), Fingerprints.BYTES);
    }

    public static byte[] fingerprint(long number) {
        SplittableRandom random = new SplittableRandom(number);
        ByteBuffer bytes = ByteBuffer.allocate(Fingerprints.BYTES);
        while (bytes.hasRemaining()) {
            bytes.putLong(random.nextLong());
        }
        return bytes.array();
    }
}
