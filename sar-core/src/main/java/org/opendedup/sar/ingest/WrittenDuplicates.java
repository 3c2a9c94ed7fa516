package org.opendedup.sar.ingest;

import java.io.IOException;
import java.util.Arrays;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.metadata.ReferenceCounts;
import org.opendedup.sar.tier.AccessListener;
import org.opendedup.sar.tier.ChunkRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gathers what a stored segment referred to without storing it, for the promotion. Used again for the next segment. */
final class WrittenDuplicates {
    private static final Logger log = LoggerFactory.getLogger(WrittenDuplicates.class);

    private final ChunkRequest duplicates = new ChunkRequest();
    private long[] ids = new long[0];
    private int[] counts = new int[0];

    /**
     * Tells of a segment's duplicates, with their bytes and the references there are to them now.
     *
     * @param length bytes of the segment that were stored
     */
    void tell(AccessListener promotion, long inode, Segment segment, int length, ReferenceCounts references) {
        gather(segment, length);
        if (duplicates.count() == 0) {
            return;
        }
        try {
            references.counts(ids, duplicates.count(), counts);
        } catch (IOException e) {
            log.warn("duplicates are not promoted, their references are unknown: {}", e.getMessage());
            return;
        }
        for (int i = 0; i < duplicates.count(); i++) {
            duplicates.setReferences(i, counts[i]);
        }
        promotion.written(inode, duplicates);
        // The segment's buffer is filled with other bytes next.
        duplicates.clear();
    }

    private void gather(Segment segment, int length) {
        duplicates.clear();
        if (ids.length < segment.count()) {
            ids = Arrays.copyOf(ids, segment.count());
            counts = new int[segment.count()];
        }
        for (int chunk = 0; chunk < segment.count() && segment.offset(chunk) < length; chunk++) {
            if (segment.isZero(chunk) || segment.isFresh(chunk)) {
                continue;
            }
            int check = Fingerprints.check(segment.fingerprints(), Segment.fingerprintOffset(chunk));
            int i = duplicates.count();
            duplicates.add(segment.chunkId(chunk), segment.length(chunk), check, -1);
            duplicates.setData(i, segment.data(), segment.offset(chunk), segment.length(chunk));
            ids[i] = segment.chunkId(chunk);
        }
    }
}
