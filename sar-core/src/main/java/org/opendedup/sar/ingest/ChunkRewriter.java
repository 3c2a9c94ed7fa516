package org.opendedup.sar.ingest;

import java.io.Closeable;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.ContainerWriter;
import org.opendedup.sar.ingest.IngestPipeline.Stores;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores chunks once more, next to each other: fresh copies that recipes can refer to in place of the old ones. As the write path
 * does, in this order: {@link #append}; then the caller changes recipes and counts; then {@link #insert} makes the index lead to
 * the fresh copies. A crash in between leaves copies that nobody refers to. For use by one thread.
 */
public final class ChunkRewriter implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(ChunkRewriter.class);

    /** Chunks of one append: with chunks of 8 KiB a MiB of them, with the longest 8 MiB. */
    public static final int MAX_CHUNKS = 128;

    private final Stores stores;
    private final ContainerWriter writer;
    private final Segment segment;
    private final SegmentDuplicates duplicates = new SegmentDuplicates();
    /** Containers that hold fresh copies: a chunk that comes again gets the same one. */
    private final Set<Long> written = new HashSet<>();

    ChunkRewriter(Stores stores, long stream, int maxChunkBytes) {
        this.stores = stores;
        writer = stores.containers().writer(stream);
        segment = new Segment(MAX_CHUNKS * maxChunkBytes);
    }

    /**
     * What an append did.
     *
     * @param copies from each old chunk id to the one that takes its place
     * @param freshChunks how many of these were stored for it
     * @param freshBytes bytes of these
     */
    public record Copies(Map<Long, Long> copies, int freshChunks, long freshBytes) {}

    /** Stores copies of chunks, at most {@link #MAX_CHUNKS}, in the order of the map. */
    public Copies append(Map<Long, byte[]> chunks) throws IOException {
        fill(chunks);
        stores.fingerprinter().fingerprint(segment);
        lookup();
        duplicates.clear(segment.count());
        Map<Long, Long> copies = new HashMap<>();
        int fresh = 0;
        long freshBytes = 0;
        int chunk = 0;
        for (Long old : chunks.keySet()) {
            if (!isOwnCopy(segment.hint(chunk))) {
                int first = duplicates.firstOf(segment, chunk);
                if (first == chunk) {
                    store(chunk);
                    fresh++;
                    freshBytes += segment.length(chunk);
                } else {
                    segment.setChunkId(chunk, segment.chunkId(first));
                }
            }
            copies.put(old, segment.chunkId(chunk));
            chunk++;
        }
        return new Copies(copies, fresh, freshBytes);
    }

    private void fill(Map<Long, byte[]> chunks) {
        segment.clear();
        int at = 0;
        for (byte[] data : chunks.values()) {
            System.arraycopy(data, 0, segment.data(), at, data.length);
            segment.add(at, data.length, false);
            at += data.length;
        }
    }

    /** Without its index the rewriter goes on: a chunk that comes again is stored again. */
    private void lookup() {
        try {
            stores.index().lookup(segment);
        } catch (IOException e) {
            log.warn("the fingerprint index does not answer, duplicates are stored again: {}", e.getMessage());
            for (int chunk = 0; chunk < segment.count(); chunk++) {
                segment.setHint(chunk, ChunkId.NONE);
            }
        }
    }

    private boolean isOwnCopy(long hint) throws IOException {
        return hint != ChunkId.NONE
                && written.contains(ChunkId.container(hint))
                && stores.metadata().counts().isReferable(hint);
    }

    private void store(int chunk) throws IOException {
        long id = writer.append(
                segment.data(),
                segment.offset(chunk),
                segment.length(chunk),
                segment.fingerprints(),
                Segment.fingerprintOffset(chunk));
        segment.setChunkId(chunk, id);
        segment.setFresh(chunk, true);
        written.add(ChunkId.container(id));
    }

    /** Makes the index lead to the copies of the last append; they are referred to by now. */
    public void insert() {
        try {
            stores.index().insert(segment);
        } catch (IOException e) {
            log.warn("the fingerprint index takes nothing new, duplicates are stored again: {}", e.getMessage());
        }
    }

    /** Gives the container back. Idempotent. */
    @Override
    public void close() {
        writer.close();
    }
}
