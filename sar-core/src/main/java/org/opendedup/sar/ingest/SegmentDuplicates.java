package org.opendedup.sar.ingest;

import java.util.Arrays;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Fingerprints;

/**
 * Finds the chunks that occur more than once in one segment and are new to the index, so that they are stored once. An
 * open-addressing table of chunk numbers, reused for each segment. Not thread-safe.
 */
final class SegmentDuplicates {
    private static final int FREE = -1;

    private int[] table = new int[1024];

    void clear(int chunks) {
        if (table.length < 2 * chunks) {
            table = new int[Integer.highestOneBit(2 * chunks) * 2];
        }
        Arrays.fill(table, FREE);
    }

    /**
     * Returns the number of an earlier chunk of the segment with the same fingerprint; if there is none, adds
     * {@code chunk} to the table and returns it.
     */
    int firstOf(Segment segment, int chunk) {
        byte[] fingerprints = segment.fingerprints();
        int at = Segment.fingerprintOffset(chunk);
        int mask = table.length - 1;
        int place = Fingerprints.fingerprintPrefix(fingerprints, at) & mask;
        while (table[place] != FREE) {
            int other = Segment.fingerprintOffset(table[place]);
            if (Arrays.equals(
                    fingerprints, at, at + Fingerprints.BYTES, fingerprints, other, other + Fingerprints.BYTES)) {
                return table[place];
            }
            place = (place + 1) & mask;
        }
        table[place] = chunk;
        return chunk;
    }
}
