package org.opendedup.sar.ingest;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.ContainerWriter;
import org.opendedup.sar.metadata.recipes.HeldRecipe;

/**
 * Stores new copies of chunks next to each other, so that recipes can refer to them instead of the old copies. The
 * steps are in the same order as in the write path: {@link #append}; {@link #tellLengths}; then the caller changes
 * recipes and counts; then {@link #insert} makes the index lead to the new copies, or for those of several appends
 * {@link #insertKept}. A crash in between leaves copies without references. For use by one thread.
 */
public final class ChunkRewriter implements Closeable {
    /** Maximum number of chunks of one append: 1 MiB with chunks of 8 KiB, 8 MiB with the longest chunks. */
    public static final int MAX_CHUNKS = 128;

    private final IngestStores stores;
    private final ForgivingIndex index;
    private final ContainerWriter writer;
    private Segment segment = new Segment(0);
    private final SegmentDuplicates duplicates = new SegmentDuplicates();
    /** New copies to which the index does not lead yet. */
    private final List<Kept> kept = new ArrayList<>();
    /** Containers that hold new copies: a chunk that occurs again gets the same copy. */
    private final Set<Long> written = new HashSet<>();

    private record Kept(long chunkId, byte[] fingerprint) {}

    ChunkRewriter(IngestStores stores, long stream) {
        this.stores = stores;
        index = new ForgivingIndex(stores.index());
        writer = stores.containers().writer(stream);
    }

    /**
     * The result of an append.
     *
     * @param copies maps each old chunk id to the one that replaces it
     * @param freshChunks number of copies that were newly stored
     * @param freshBytes bytes of these newly stored copies
     */
    public record Copies(Map<Long, Long> copies, int freshChunks, long freshBytes) {}

    /** Stores copies of at most {@link #MAX_CHUNKS} chunks, in the order of the map. */
    public Copies append(Map<Long, byte[]> chunks) throws IOException {
        fill(chunks);
        stores.fingerprinter().fingerprint(segment);
        index.lookup(segment);
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
        int bytes = chunks.values().stream().mapToInt(data -> data.length).sum();
        if (bytes > segment.data().length) {
            segment = new Segment(bytes);
        }
        segment.clear();
        int at = 0;
        for (byte[] data : chunks.values()) {
            System.arraycopy(data, 0, segment.data(), at, data.length);
            segment.add(at, data.length, false);
            at += data.length;
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

    /**
     * Records in the reference counts the lengths of the copies of the last append, and that they exist: until
     * something refers to them they are garbage. Must be called before the first reference.
     *
     * @param changes the change lock
     */
    public void tellLengths(Lock changes) throws IOException {
        // Reads the counts before it acquires the lock.
        try (HeldRecipe held = stores.metadata().recipes().holdFew(0, 0, 0)) {
            for (int chunk = 0; chunk < segment.count(); chunk++) {
                if (segment.isFresh(chunk)) {
                    held.holdCount(segment.chunkId(chunk));
                }
            }
            changes.lock();
            try {
                for (int chunk = 0; chunk < segment.count(); chunk++) {
                    if (segment.isFresh(chunk)) {
                        stores.metadata().counts().addNew(segment.chunkId(chunk), segment.length(chunk), 0);
                    }
                }
            } finally {
                changes.unlock();
            }
        }
    }

    /** Makes the index lead to the copies of the last append. */
    public void insert() {
        index.insert(segment);
    }

    /** Keeps the fingerprints of the copies of the last append for {@link #insertKept}: 40 bytes for each. */
    public void keep() {
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (segment.isFresh(chunk)) {
                kept.add(new Kept(
                        segment.chunkId(chunk),
                        Arrays.copyOfRange(
                                segment.fingerprints(),
                                Segment.fingerprintOffset(chunk),
                                Segment.fingerprintOffset(chunk) + Fingerprints.BYTES)));
            }
        }
    }

    /** Makes the index lead to those of the kept copies that something refers to, and forgets all. */
    public void insertKept() throws IOException {
        for (Kept copy : kept) {
            if (stores.metadata().counts().count(copy.chunkId) > 0) {
                index.insert(copy.fingerprint, copy.chunkId);
            }
        }
        kept.clear();
    }

    /** Forgets the kept copies. */
    public void dropKept() {
        kept.clear();
    }

    /** Releases the container. Idempotent. */
    @Override
    public void close() {
        writer.close();
    }
}
