package org.opendedup.sar.index;

import java.io.Closeable;
import java.io.IOException;
import java.util.BitSet;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Epoch;

/**
 * Maps fingerprints to chunk ids, one segment at a time. It also keeps the frame table (opaque bytes) of every
 * container that it covers, so that one store at the hash-db location answers both "where is this content" and "where
 * in the container file is this slot".
 *
 * <p>After a crash an index may lack chunks of the containers, name chunks that no container has, or may have lost any
 * entry. It guarantees one thing: if it reports a container as covered after a crash, every fingerprint that was
 * inserted for the container before {@link #cover} is present. A container that is not covered is read again from its
 * directory. Safe for use by many threads.
 */
public interface ChunkIndex extends Closeable {
    /** Meaning of a lookup that finds nothing. */
    enum Exactness {
        /** The chunk is new, except for parts of the index that were lost. */
        EXACT,
        /** The chunk is probably new; a fingerprint may also lead to a copy that was inserted before the last one. */
        NEAR_EXACT
    }

    Exactness exactness();

    /**
     * Sets {@link Segment#setHint} of every chunk that is not a zero run: to a stored copy's id, or to
     * {@link org.opendedup.sar.common.ChunkId#NONE}.
     */
    void lookup(Segment segment) throws IOException;

    /**
     * Adds the segment's fresh chunks; no two of them have the same fingerprint. From then on a fingerprint leads to
     * the copy that was inserted last. A near-exact index may also add the segment's other chunks with the copies that
     * they refer to. The segment must have been looked up: a hint of {@link org.opendedup.sar.common.ChunkId#NONE} is
     * taken to mean that the fingerprint is new, which saves a read.
     */
    void insert(Segment segment) throws IOException;

    /** Adds one chunk, whose fingerprint begins at {@code fingerprints[offset]}; used for rebuilding. */
    void insert(byte[] fingerprints, int offset, long chunkId) throws IOException;

    /**
     * Removes the fingerprints of these slots of a container if they still lead there. Inserts may run in between; a
     * fingerprint that leads to another copy by then stays. After a crash, or a failure, some of the entries may be
     * back.
     *
     * @param fingerprints slot {@code i}'s begins at {@code i * Fingerprints.BYTES}
     */
    void remove(long container, byte[] fingerprints, BitSet slots) throws IOException;

    /** Receives an entry of an index. */
    @FunctionalInterface
    interface EntryVisitor {
        /** @param fingerprint its 32 bytes */
        void visit(byte[] fingerprint, long chunkId);
    }

    /**
     * Visits up to {@code count} entries, in an order of the index's own. An entry that stays during a walk is visited
     * once; one that is inserted, moved or removed meanwhile may be visited or not. A near-exact index may also visit
     * earlier copies that a fingerprint led to.
     *
     * @param position what the last call returned; null to begin
     * @return where the next call goes on; null if all entries were visited
     */
    byte @Nullable [] forEachAfter(byte @Nullable [] position, int count, EntryVisitor visitor) throws IOException;

    /**
     * Visits up to {@code count} entries from a fingerprint on, in the order of the fingerprints.
     *
     * @return false if the index has not that order: it visits none
     */
    default boolean forEachFrom(byte[] fingerprint, int count, EntryVisitor visitor) throws IOException {
        return false;
    }

    /** Visits a random entry, each with about the same chance. May visit none if few are left of many. */
    void sample(RandomGenerator random, EntryVisitor visitor) throws IOException;

    /** Declares that every chunk of a sealed container has been inserted, and keeps its frame table. */
    void cover(long container, byte[] frameTable) throws IOException;

    /** Reverts {@link #cover}, for a container that was rewritten or removed. */
    void uncover(long container) throws IOException;

    /** Returns the frame table that was passed to {@link #cover}, or null if the container is not covered. */
    byte @Nullable [] frameTable(long container) throws IOException;

    /** Receives what is known of the slots of a container. */
    @FunctionalInterface
    interface SlotVisitor {
        /** @param fingerprint its 32 bytes */
        void visit(int slot, byte[] fingerprint);
    }

    /**
     * Visits the slots of a container whose fingerprints were inserted and are still kept, also those whose
     * fingerprints lead to another copy by now. Any may be absent, and one may be visited twice.
     */
    void forEachOf(long container, SlotVisitor visitor) throws IOException;

    /** Returns the epoch of the last {@link #stamp}; null if there was none since the index was created or cleared. */
    @Nullable
    Epoch epoch() throws IOException;

    /**
     * Writes the volume's epoch into the index. The epoch is durable when the call returns, so it is durable before
     * anything that is inserted later. The index must be cleared if it has an epoch that the volume does not know, or
     * if it has containers that the volume does not share with that epoch: it then belongs to a different history.
     */
    void stamp(Epoch epoch) throws IOException;

    /**
     * Returns the highest container id that any chunk was inserted for, or that was covered, since the index was
     * created or cleared; 0 if none.
     */
    long highestContainer() throws IOException;

    /** Removes everything. No other call may run at the same time. */
    void clear() throws IOException;

    /** Makes all insertions up to now survive a crash. Never needed for correctness. */
    void flush() throws IOException;

    /** Returns whether the index stores anything; if not, callers need not report chunks and containers to it. */
    default boolean keepsAnything() {
        return true;
    }

    /** Returns the approximate number of fingerprints, without reading the whole index. */
    long estimatedChunks();

    /** Returns where the index has its bytes. */
    default IndexUse use() {
        return IndexUse.UNKNOWN;
    }
}
