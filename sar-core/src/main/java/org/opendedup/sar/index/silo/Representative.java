package org.opendedup.sar.index.silo;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Fingerprints;

/**
 * The representative fingerprint of a set of chunks: the lowest, as unsigned bytes. Two sets have the same one with the
 * probability of their resemblance, {@code |A ∩ B| / |A ∪ B|} (Broder; SiLo, section 2.2, equation 1).
 */
public final class Representative {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    /** Where the bytes for {@link #key} begin: the first bytes of a lowest fingerprint are mostly zero. */
    private static final int KEY_OFFSET = 8;

    private Representative() {}

    /** Returns the chunk with the lowest fingerprint from one chunk to another (exclusive); -1 if all are zero runs. */
    static int of(Segment segment, int from, int to) {
        int lowest = -1;
        for (int chunk = from; chunk < to; chunk++) {
            if (!segment.isZero(chunk)
                    && (lowest < 0
                            || compare(
                                            segment.fingerprints(),
                                            Segment.fingerprintOffset(chunk),
                                            segment.fingerprints(),
                                            Segment.fingerprintOffset(lowest))
                                    < 0)) {
                lowest = chunk;
            }
        }
        return lowest;
    }

    /** Compares two fingerprints as unsigned bytes. */
    static int compare(byte[] some, int at, byte[] others, int otherAt) {
        int first = Long.compareUnsigned((long) LONG.get(some, at), (long) LONG.get(others, otherAt));
        return first != 0
                ? first
                : Arrays.compareUnsigned(
                        some, at, at + Fingerprints.BYTES, others, otherAt, otherAt + Fingerprints.BYTES);
    }

    /** Returns 64 bits of a fingerprint that are evenly distributed also among representatives; never 0. */
    static long key(byte[] fingerprints, int offset) {
        long key = (long) LONG.get(fingerprints, offset + KEY_OFFSET);
        return key == 0 ? 1 : key;
    }
}
