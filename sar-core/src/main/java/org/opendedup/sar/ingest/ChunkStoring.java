package org.opendedup.sar.ingest;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.hot.copies.AccessListener;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.ingest.ContentsBeingStored.Content;
import org.opendedup.sar.metadata.counts.ReferenceCounts;

/**
 * The write path of a volume of chunks: stores chunks that a client has cut and fingerprinted, one by one, and counts
 * the references that it reports. The steps are those of {@link IngestPipeline}: look up, verify the hint, append,
 * count, insert. A content is stored once, however many threads bring it at the same time. Safe for use by many
 * threads.
 */
public final class ChunkStoring implements Closeable {
    /** Maximum number of calls whose memory is kept for later ones. */
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
    private final ContentsBeingStored contents = new ContentsBeingStored();
    private final BlockingQueue<Call> calls = new ArrayBlockingQueue<>(POOLED);
    private final LongAdder storedBytes = new LongAdder();
    private final LongAdder duplicateBytes = new LongAdder();

    /**
     * A chunk that is stored.
     *
     * @param chunkId its id
     * @param isNew whether its content was not stored before
     */
    public record Stored(long chunkId, boolean isNew) {}

    /** What a call needs for its chunk. For one thread at a time. */
    private static final class Call {
        private final Segment segment = new Segment(0);
        private final ContentHasher hasher = new ContentHasher();

        /** Returns the copy that the index led to when it was asked last; {@link ChunkId#NONE} if it led nowhere. */
        private long hint() {
            return segment.hint(0);
        }
    }

    /** Makes room for bytes of a new chunk. */
    @FunctionalInterface
    public interface Admission {
        void admit(int bytes) throws IOException;
    }

    /**
     * @param uses open from the look-up of a chunk until its reference is counted
     * @param changes held shared while counts change
     * @param damaged stored copies that must not be referenced again
     * @param unreferenced told about each chunk that is put without a reference
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
     * @param fingerprint that of the chunk, {@value Fingerprints#BYTES} bytes
     * @param data array that begins with the chunk
     * @param references references to add, 0 or more
     * @param stream chunks of one stream are stored together
     * @param admission asked before a new chunk is stored, without a lock and without a use
     * @throws IOException if the chunk is new and its fingerprint is another one
     */
    public Stored put(byte[] fingerprint, byte[] data, int length, int references, long stream, Admission admission)
            throws IOException {
        // One long method on purpose: HotSpot does not inline one of more than 325 bytes of bytecode. It would compile
        // all that a put does again for each of the short methods that lead here, up to the client's: half a second of
        // processor time in the first seconds of writing.
        Call call = begin(fingerprint, length);
        try {
            int endedBefore = contents.ended(fingerprint, 0);
            Stored known = addToKnown(call, references);
            if (known == null) {
                // The client computed it before. But a wrong one would take later writes of what it says as duplicates.
                if (!call.hasher.matches(data, 0, length, fingerprint, 0)) {
                    throw wrong(fingerprint);
                }
                admission.admit(length);
                Content content = claim(fingerprint);
                try {
                    // Asks again only if another thread may have stored this content meanwhile.
                    known = contents.ended(fingerprint, 0) == endedBefore ? null : addToKnown(call, references);
                    if (known == null) {
                        storedBytes.add(length);
                        if (runs != null) {
                            runs.end(stream);
                        }
                        return new Stored(store(call, fingerprint, data, length, references, stream), true);
                    }
                } finally {
                    contents.end(content);
                }
            }
            duplicateBytes.add(length);
            AccessListener listener = promotion;
            if (listener != null && runs != null && listener.isActive()) {
                // Notes it for the promotion, while its bytes are in memory.
                int prefix = Fingerprints.fingerprintPrefix(fingerprint, 0);
                long chunk = known.chunkId;
                runs.note(stream, chunk, length, prefix, counts.occurrences(chunk), data);
            }
            return known;
        } finally {
            calls.offer(call);
        }
    }

    private static IOException wrong(byte[] fingerprint) {
        return new IOException("the fingerprint " + Fingerprints.toHex(fingerprint, 0) + " is not the "
                + ContentHash.of(fingerprint) + " of its chunk");
    }

    /** Claims a content, when no other thread stores it any more. */
    private Content claim(byte[] fingerprint) {
        Content content = new Content(fingerprint, 0);
        for (Content other = contents.claim(content); other != null; other = contents.claim(content)) {
            var unused = other.await();
        }
        return content;
    }

    private @Nullable Stored addToKnown(Call call, int references) throws IOException {
        try (GracePeriod.Use use = uses.begin()) {
            index.lookup(call.segment);
            long hint = call.hint();
            if (!isReferable(hint) || claim(hint, references) < 0) {
                return null;
            }
            if (references == 0) {
                unreferenced.accept(hint);
            }
            return new Stored(hint, false);
        }
    }

    /** Stores the content of a call. The copy that the index led to, if any, is replaced: it cannot be referenced. */
    private long store(Call call, byte[] fingerprint, byte[] data, int length, int references, long stream)
            throws IOException {
        try (GracePeriod.Use use = uses.begin()) {
            long id = writers.append(stream, data, length, fingerprint);
            if (references == 0) {
                unreferenced.accept(id);
            }
            changes.lock();
            try {
                counts.addNew(id, length, references);
            } finally {
                changes.unlock();
            }
            Segment segment = call.segment;
            segment.setChunkId(0, id);
            segment.setFresh(0, true);
            index.insert(segment);
            // A pass that heals the damaged copy may have ended before the index led to this one: asks for another.
            isReferable(call.hint());
            return id;
        }
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
        Call call = begin(fingerprint, 0);
        index.lookup(call.segment);
        long hint = call.hint();
        calls.offer(call);
        return hint;
    }

    /** Returns a copy of a content that may be referenced; {@link ChunkId#NONE} if there is none. */
    public long find(byte[] fingerprint) throws IOException {
        long hint = lookUp(fingerprint);
        return isReferable(hint) ? hint : ChunkId.NONE;
    }

    private boolean isReferable(long hint) throws IOException {
        return hint != ChunkId.NONE && counts.isReferable(hint) && !damaged.test(hint);
    }

    private Call begin(byte[] fingerprint, int length) {
        Call pooled = calls.poll();
        Call call = pooled == null ? new Call() : pooled;
        Segment segment = call.segment;
        segment.clear();
        segment.add(0, length, false);
        System.arraycopy(fingerprint, 0, segment.fingerprints(), 0, Fingerprints.BYTES);
        return call;
    }

    /** Releases the containers; no call may run. */
    @Override
    public void close() {
        writers.close();
    }
}
