package org.opendedup.sar.ingest;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.Sha256;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.metadata.ReferenceCounts;
import org.opendedup.sar.tier.copies.AccessListener;

/**
 * The write path of a volume of chunks: stores chunks that a client has cut and fingerprinted, one by one, and counts
 * the references that it reports. The steps are those of {@link IngestPipeline}: look up, verify the hint, append,
 * count, insert. A content is stored once, however many threads bring it at the same time. Safe for use by many
 * threads.
 */
public final class ChunkStoring implements Closeable {
    /** Locks for contents that are being stored; two contents share one by chance. */
    private static final int LOCKS = 256;

    /** Maximum number of look-ups whose memory is kept. */
    private static final int POOLED = 64;

    private final ForgivingIndex index;
    private final ReferenceCounts counts;
    private final GracePeriod uses;
    private final Lock changes;
    private final LongPredicate damaged;
    private final LongConsumer unreferenced;
    private final StreamWriters writers;
    private final @Nullable AccessListener promotion;
    private final @Nullable StreamRuns runs;
    private final ReentrantLock[] locks = new ReentrantLock[LOCKS];
    private final BlockingQueue<Segment> segments = new ArrayBlockingQueue<>(POOLED);
    private final LongAdder storedBytes = new LongAdder();
    private final LongAdder duplicateBytes = new LongAdder();

    /**
     * A chunk that is stored.
     *
     * @param chunkId its id
     * @param isNew whether its content was not stored before
     */
    public record Stored(long chunkId, boolean isNew) {}

    /** Makes room for bytes of a new chunk. */
    @FunctionalInterface
    public interface Admission {
        void admit(int bytes) throws IOException;
    }

    /**
     * @param uses open from the look-up of a chunk until its reference is counted
     * @param changes held shared while counts change
     * @param damaged stored copies that must not be referenced again
     * @param unreferenced told about each new chunk that is stored without a reference
     * @param maxStreams streams whose chunks are kept together at the same time
     * @param promotion notified of duplicates with their bytes; null for no notification
     */
    public ChunkStoring(
            ChunkIndex index,
            ContainerStore containers,
            ReferenceCounts counts,
            GracePeriod uses,
            Lock changes,
            LongPredicate damaged,
            LongConsumer unreferenced,
            int maxStreams,
            @Nullable AccessListener promotion) {
        this.index = new ForgivingIndex(index);
        this.counts = counts;
        this.uses = uses;
        this.changes = changes;
        this.damaged = damaged;
        this.unreferenced = unreferenced;
        this.promotion = promotion;
        runs = promotion == null ? null : new StreamRuns(promotion);
        writers = new StreamWriters(containers, maxStreams);
        for (int i = 0; i < LOCKS; i++) {
            locks[i] = new ReentrantLock();
        }
    }

    /** Bytes of chunks that were new. */
    public long storedBytes() {
        return storedBytes.sum();
    }

    /** Bytes of chunks that were stored already. */
    public long duplicateBytes() {
        return duplicateBytes.sum();
    }

    /**
     * Stores a chunk unless its content is stored, and adds references to it.
     *
     * @param fingerprint SHA-256 of the chunk, {@value Fingerprints#BYTES} bytes
     * @param data array that begins with the chunk
     * @param references references to add, 0 or more
     * @param stream chunks of one stream are stored together
     * @param admission asked before a new chunk is stored, without a lock and without a use
     * @throws IOException if the chunk is new and its fingerprint is another one
     */
    public Stored put(byte[] fingerprint, byte[] data, int length, int references, long stream, Admission admission)
            throws IOException {
        Stored known = addToKnown(fingerprint, references);
        if (known == null) {
            if (!new Sha256().matches(data, 0, length, fingerprint, 0)) {
                throw new IOException("the fingerprint " + Fingerprints.toHex(fingerprint, 0) + " is not the SHA-256 of"
                        + " its chunk: the volume must use SHA-256 to fingerprint its chunks");
            }
            admission.admit(length);
            ReentrantLock lock = locks[(fingerprint[0] ^ fingerprint[1] << 1) & (LOCKS - 1)];
            lock.lock();
            try {
                known = addToKnown(fingerprint, references);
                if (known == null) {
                    storedBytes.add(length);
                    if (runs != null) {
                        runs.end(stream);
                    }
                    return store(fingerprint, data, length, references, stream);
                }
            } finally {
                lock.unlock();
            }
        }
        duplicateBytes.add(length);
        tellDuplicate(known.chunkId, fingerprint, data, length, stream);
        return known;
    }

    private @Nullable Stored addToKnown(byte[] fingerprint, int references) throws IOException {
        try (GracePeriod.Use use = uses.begin()) {
            long hint = find(fingerprint);
            return hint != ChunkId.NONE && claim(hint, references) >= 0 ? new Stored(hint, false) : null;
        }
    }

    private Stored store(byte[] fingerprint, byte[] data, int length, int references, long stream) throws IOException {
        Segment segment = borrow(fingerprint, length);
        try (GracePeriod.Use use = uses.begin()) {
            // The copy that the index leads to is replaced if it cannot be referenced.
            index.lookup(segment);
            long id = writers.append(stream, data, length, fingerprint);
            if (references == 0) {
                unreferenced.accept(id);
            }
            changes.lock();
            try {
                counts.setLength(id, length);
                counts.claim(id, references);
            } finally {
                changes.unlock();
            }
            segment.setChunkId(0, id);
            segment.setFresh(0, true);
            index.insert(segment);
            return new Stored(id, true);
        } finally {
            segments.offer(segment);
        }
    }

    /** Notes a duplicate for the promotion, while its bytes are in memory. */
    private void tellDuplicate(long chunk, byte[] fingerprint, byte[] data, int length, long stream)
            throws IOException {
        AccessListener listener = promotion;
        if (listener == null || runs == null || !listener.isActive()) {
            return;
        }
        int prefix = Fingerprints.fingerprintPrefix(fingerprint, 0);
        runs.note(stream, chunk, length, prefix, counts.occurrences(chunk), data);
    }

    /** Lets the promotion judge the duplicates whose run has not ended: their streams may not go on. */
    public void endRuns() {
        if (runs != null) {
            runs.endAll();
        }
    }

    /**
     * Adds {@code delta}, which may be negative, to the count of a copy; see {@link ReferenceCounts#claim}. The caller
     * has a use open since it found the copy.
     */
    public int claim(long chunk, long delta) throws IOException {
        // Reads the record before the lock: a thread that waits for the disk while it holds the lock makes others wait.
        counts.count(chunk);
        changes.lock();
        try {
            return counts.claim(chunk, delta);
        } finally {
            changes.unlock();
        }
    }

    /** Returns the copy that the index leads to, whether or not it exists; {@link ChunkId#NONE} if it leads nowhere. */
    public long lookUp(byte[] fingerprint) {
        Segment segment = borrow(fingerprint, 0);
        index.lookup(segment);
        long hint = segment.hint(0);
        segments.offer(segment);
        return hint;
    }

    /** Returns a copy of a content that may be referenced; {@link ChunkId#NONE} if there is none. */
    public long find(byte[] fingerprint) throws IOException {
        long hint = lookUp(fingerprint);
        return hint != ChunkId.NONE && counts.isReferable(hint) && !damaged.test(hint) ? hint : ChunkId.NONE;
    }

    private Segment borrow(byte[] fingerprint, int length) {
        Segment pooled = segments.poll();
        Segment segment = pooled == null ? new Segment(0) : pooled;
        segment.clear();
        segment.add(0, length, false);
        System.arraycopy(fingerprint, 0, segment.fingerprints(), 0, Fingerprints.BYTES);
        return segment;
    }

    /** Releases the containers; no call may run. */
    @Override
    public void close() {
        writers.close();
    }
}
