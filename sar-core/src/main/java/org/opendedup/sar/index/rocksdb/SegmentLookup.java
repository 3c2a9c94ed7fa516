package org.opendedup.sar.index.rocksdb;

import java.io.IOException;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;

/**
 * Looks up the chunks of a segment: first in the cache, then the missing ones in RocksDB, in small batches. Where two
 * consecutive answers are in one container, all of that container's fingerprints are loaded into the cache, which is
 * queried again for the remaining chunks. So for each container that a duplicate stream passes through, RocksDB serves
 * only a small batch and one record. Reused for the next segment. For one thread at a time.
 */
final class SegmentLookup {
    /**
     * Size of the first batch, in fingerprints. It is small because each container that a duplicate stream enters costs
     * one.
     */
    private static final int FIRST_BATCH = 8;

    private final IndexDatabase database;
    private final FingerprintCache cache;
    private final ChunkIdQuery query = new ChunkIdQuery();
    /**
     * The chunks that are neither found nor known to be new yet, in ascending order; {@code missing[0 ..
     * missingCount)}.
     */
    private int[] missing = new int[ChunkIdQuery.CAPACITY];

    private int missingCount;

    /** @param cache locked while it is used */
    SegmentLookup(IndexDatabase database, FingerprintCache cache) {
        this.database = database;
        this.cache = cache;
    }

    /**
     * Looks up chunks.
     *
     * @param onlyMissing only those without a hint; those of the others stay
     * @return their number
     */
    int run(Segment segment, boolean onlyMissing) throws IOException {
        collect(segment, onlyMissing);
        int all = missingCount;
        askCache(segment);
        int batch = FIRST_BATCH;
        while (missingCount > 0) {
            int asked = Math.min(batch, missingCount);
            askDatabase(segment, asked);
            boolean loaded = loadNeighbours(segment, asked);
            missingCount -= asked;
            System.arraycopy(missing, asked, missing, 0, missingCount);
            if (loaded) {
                askCache(segment);
                batch = FIRST_BATCH;
            } else {
                batch = Math.min(2 * batch, ChunkIdQuery.CAPACITY);
            }
        }
        return all;
    }

    private void collect(Segment segment, boolean onlyMissing) {
        if (missing.length < segment.count()) {
            missing = new int[segment.count()];
        }
        missingCount = 0;
        for (int i = 0; i < segment.count(); i++) {
            if (!segment.isZero(i) && (!onlyMissing || segment.hint(i) == ChunkId.NONE)) {
                missing[missingCount++] = i;
            }
        }
    }

    /** Sets the hints of the chunks that the cache has, and removes these chunks from the missing ones. */
    private void askCache(Segment segment) {
        int still = 0;
        synchronized (cache) {
            for (int m = 0; m < missingCount; m++) {
                int chunk = missing[m];
                long chunkId = cache.get(segment.fingerprints(), Segment.fingerprintOffset(chunk));
                segment.setHint(chunk, chunkId);
                if (chunkId == ChunkId.NONE) {
                    missing[still++] = chunk;
                }
            }
        }
        missingCount = still;
    }

    /** Sets the hints of the first {@code count} missing chunks from RocksDB. */
    private void askDatabase(Segment segment, int count) throws IOException {
        query.clear();
        for (int m = 0; m < count; m++) {
            query.add(segment.fingerprints(), Segment.fingerprintOffset(missing[m]));
        }
        database.read(query);
        for (int m = 0; m < count; m++) {
            segment.setHint(missing[m], query.chunkId(m));
        }
    }

    /**
     * Loads the fingerprints of containers with two consecutive answers; returns whether any were added to the cache.
     */
    private boolean loadNeighbours(Segment segment, int count) throws IOException {
        boolean loaded = false;
        long loadedContainer = 0;
        long previousContainer = 0;
        for (int m = 0; m < count; m++) {
            long container = ChunkId.container(segment.chunkId(missing[m]));
            if (container != 0 && container == previousContainer && container != loadedContainer) {
                loaded |= load(container);
                loadedContainer = container;
            }
            previousContainer = container;
        }
        return loaded;
    }

    private boolean load(long container) throws IOException {
        long strikes;
        synchronized (cache) {
            strikes = cache.strikes();
        }
        byte[] record = database.get(IndexKeys.containerFingerprints(container));
        if (record == null) {
            return false;
        }
        synchronized (cache) {
            if (cache.strikes() != strikes) {
                return false;
            }
            ContainerFingerprints.load(container, record, cache);
        }
        return true;
    }
}
