package org.opendedup.sar.volume.chunks;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.ingest.StreamLogWriter;
import org.opendedup.sar.metadata.pending.ContainerTable;
import org.opendedup.sar.restore.WriteOrderReads;
import org.opendedup.sar.restore.lookahead.StreamOrderReads;
import org.opendedup.sar.volume.engine.ChunkEngine;

/**
 * Reading ahead in a volume of chunks, whose client names neither files nor an order. A reader of a stream that has a
 * log is read ahead along it ({@link StreamOrderReads}): new chunks and old ones. Any other reader is read ahead in the
 * order of the containers ({@link WriteOrderReads}), if it reads new chunks in sequence. Safe for use by many threads.
 */
final class ChunkReadAhead {
    /** Containers of other streams that may have been begun between two of one stream. */
    private static final int LOOK_AHEAD_CONTAINERS = 4 * ChunkEngine.MAX_OPEN_CONTAINERS;

    /** References of all logs, for each chunk that exists: four generations of a series that has doubled. */
    private static final int REFERENCES_PER_CHUNK = 2;

    /** References that all logs may have together in any case. */
    private static final int LEAST_REFERENCES = 1 << 16;

    private final ContainerTable containers;
    private final StreamLogWriter logs;
    private final StreamOrderReads inStreamOrder;
    private final WriteOrderReads inWriteOrder;
    private volatile boolean isWanted = true;

    ChunkReadAhead(ChunkEngine engine) {
        containers = engine.metadata().containers();
        logs = new StreamLogWriter(
                engine.metadata().streamLogs(),
                engine.metadata()::nextInode,
                engine.devices()::tryAdmitMetadata,
                engine.changes(),
                () -> REFERENCES_PER_CHUNK * engine.metadata().totals().stored().chunks() + LEAST_REFERENCES,
                engine.storers());
        inStreamOrder = engine.restore().inStreamOrder(engine.metadata().streamLogs());
        inWriteOrder = engine.restore().inWriteOrder(this::containerAfter);
    }

    /** Sets whether readers are read ahead, and logs written for it. */
    void set(boolean wanted) {
        isWanted = wanted;
    }

    /** Notes that a stream has put a chunk. */
    void wrote(long stream, long chunk, int length, byte[] fingerprint) {
        if (isWanted) {
            logs.note(stream, chunk, length, Fingerprints.fingerprintPrefix(fingerprint, 0));
        }
    }

    /**
     * Notes that a chunk is read, and returns its bytes if they were fetched ahead; waits while they are on the way.
     *
     * @param length bytes of the chunk
     * @return null if they were not, or are not those of the content with this fingerprint: the caller reads the chunk
     */
    byte @Nullable [] read(long location, int length, byte[] fingerprint) throws IOException {
        if (!isWanted) {
            return null;
        }
        StreamOrderReads.Read read = inStreamOrder.note(location, length);
        if (read == null) {
            inWriteOrder.noteRead(location, length);
            return null;
        }
        byte[] bytes = read.bytes(Fingerprints.fingerprintPrefix(fingerprint, 0));
        return bytes != null && new ContentHasher().matches(bytes, 0, bytes.length, fingerprint, 0) ? bytes : null;
    }

    /** Reads a chunk that the client says it will read, while the caller goes on. */
    void expect(long location) {
        inWriteOrder.expect(location);
    }

    /**
     * Returns the container that holds what was written after the last chunk of another one: the next one of its pack,
     * which is a stream's. 0 if there is none near.
     */
    private long containerAfter(long container) throws IOException {
        StoredContainer stored = containers.get(container);
        long[] found = new long[1];
        if (stored != null) {
            int[] left = {LOOK_AHEAD_CONTAINERS};
            containers.forEachFrom(container + 1, entry -> {
                if (entry.stored().pack() == stored.pack() && entry.stored().offset() > stored.offset()) {
                    found[0] = entry.container();
                }
                return found[0] == 0 && --left[0] > 0;
            });
        }
        return found[0];
    }

    /** Number of frames that were asked for in the order of the containers. */
    long framesAhead() {
        return inWriteOrder.framesAhead();
    }

    /** Number of chunks that readers of streams found fetched ahead. */
    long chunksAhead() {
        return inStreamOrder.chunksAhead();
    }

    /** Ends all logs: what is not in a page yet becomes one. */
    void endLogs() {
        logs.endAll();
    }
}
