package org.opendedup.sar.ingest;

import java.io.IOException;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.index.ChunkIndex;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The fingerprint index, whose failures cost space and never a write: chunks that are not found are stored again. Safe
 * for use by many threads.
 */
final class ForgivingIndex {
    private static final Logger log = LoggerFactory.getLogger(ForgivingIndex.class);

    private final ChunkIndex index;
    /** Whether the last insert failed. */
    private volatile boolean refuses;

    ForgivingIndex(ChunkIndex index) {
        this.index = index;
    }

    /** Looks up a segment's chunks. If the index fails, no chunk has a hint. */
    void lookup(Segment segment) {
        try {
            index.lookup(segment);
        } catch (IOException e) {
            log.warn("the fingerprint index cannot be read; duplicates are stored again: {}", e.getMessage());
            for (int chunk = 0; chunk < segment.count(); chunk++) {
                segment.setHint(chunk, ChunkId.NONE);
            }
        }
    }

    /** Inserts a segment's new chunks. If the index fails, they are not found later. */
    void insert(Segment segment) {
        insert(() -> index.insert(segment));
    }

    /** Inserts one chunk, in the same way. */
    void insert(byte[] fingerprint, long chunkId) {
        insert(() -> index.insert(fingerprint, 0, chunkId));
    }

    private interface Insertion {
        void run() throws IOException;
    }

    private void insert(Insertion insertion) {
        try {
            insertion.run();
            refuses = false;
        } catch (IOException e) {
            // Logs once, and not for each of hundreds of segments per second.
            if (!refuses) {
                refuses = true;
                log.warn("the fingerprint index accepts no entries; duplicates are stored again: {}", e.getMessage());
            }
        }
    }
}
