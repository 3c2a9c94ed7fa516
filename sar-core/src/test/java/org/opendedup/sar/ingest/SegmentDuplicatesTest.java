package org.opendedup.sar.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Fingerprints;

class SegmentDuplicatesTest {
    /** The table's place of a fingerprint depends on its first bytes alone: all of these have the same. */
    @Test
    void chunksWhoseFingerprintsDifferInOneLaterByteAreNoDuplicates() {
        Segment segment = new Segment(1 << 20);
        int variants = Fingerprints.BYTES - Integer.BYTES;
        for (int i = 0; i < 2 * variants; i++) {
            segment.add(0, 1, false);
            int at = Segment.fingerprintOffset(i);
            segment.fingerprints()[at + Integer.BYTES + i % variants] = 1;
        }
        SegmentDuplicates duplicates = new SegmentDuplicates();
        for (int round = 0; round < 2; round++) {
            duplicates.clear(segment.count());
            for (int i = 0; i < segment.count(); i++) {
                // The control: the second half are duplicates of the first.
                assertEquals(i % variants, duplicates.firstOf(segment, i));
            }
        }
    }
}
