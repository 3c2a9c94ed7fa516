package org.opendedup.sar.ingest;

import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.common.ChunkId;

/**
 * Measures the runs of duplicates in streams: copies that lie one after another in their container, in the order of the
 * stream. A long run is read quickly from a disk. Knows the streams that were written last. Safe for use by many
 * threads.
 */
final class StreamRuns {
    private static final int MAX_STREAMS = 1024;
    private static final float LOAD_FACTOR = 0.75f;

    private record Run(long lastChunk, long bytes) {}

    /** Guarded by this. */
    private final Map<Long, Run> runs = new LinkedHashMap<>(16, LOAD_FACTOR, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Run> eldest) {
            return size() > MAX_STREAMS;
        }
    };

    /** Notes a duplicate; returns the bytes of the run that it belongs to, up to its own end. */
    synchronized long note(long stream, long chunk, int length) {
        Run before = runs.get(stream);
        boolean continues = before != null
                && ChunkId.container(before.lastChunk) == ChunkId.container(chunk)
                && ChunkId.slot(chunk) - ChunkId.slot(before.lastChunk) == 1;
        Run run = new Run(chunk, (continues && before != null ? before.bytes : 0) + length);
        runs.put(stream, run);
        return run.bytes;
    }
}
