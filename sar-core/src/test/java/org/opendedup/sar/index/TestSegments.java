package org.opendedup.sar.index;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.opendedup.sar.chunk.Segment;
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
