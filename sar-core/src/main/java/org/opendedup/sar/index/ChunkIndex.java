package org.opendedup.sar.index;

import java.io.Closeable;
import java.io.IOException;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Epoch;

/**
 * From fingerprints to chunk ids, a segment at a time. Also keeps, for every container it covers, that container's frame
 * table (opaque bytes), so that one store at the hash-db location answers both "where is this content" and "where in the
 * container file is this slot".
 *
 * <p>An index may lag behind, lead, or lose any part of itself in a crash, with one promise: a container that it reports
 * as covered after a crash is covered, that is, every fingerprint inserted for it before {@link #cover} is there. What
 * it does not cover is read again from the container's directory. Safe for use by many threads.
 */
public interface ChunkIndex extends Closeable {
    /** What a lookup that finds nothing means. */
    enum Exactness {
        /** The chunk is new, as far as the index was not lost. */
        EXACT,
        /** The chunk is probably new. */
        NEAR_EXACT
    }

    Exactness exactness();

    /**
     * Sets {@link Segment#setHint} of every chunk that is not a zero run: to a stored copy's id, or to {@link
     * org.opendedup.sar.common.ChunkId#NONE}.
     */
    void lookup(Segment segment) throws IOException;

    /**
     * Adds the segment's fresh chunks, no two of one fingerprint. A fingerprint leads to the last copy that was inserted from
     * then on. The segment was looked up before: a hint of {@link org.opendedup.sar.common.ChunkId#NONE} is taken to mean
     * that the fingerprint is new, which spares a read.
     */
    void insert(Segment segment) throws IOException;

    /** Adds one chunk, whose fingerprint begins at {@code fingerprints[offset]}; for rebuilding. */
    void insert(byte[] fingerprints, int offset, long chunkId) throws IOException;

    /** Removes a fingerprint if it still leads to {@code chunkId}. */
    void remove(byte[] fingerprints, int offset, long chunkId) throws IOException;

    /** Declares that every chunk of a sealed container has been inserted, and keeps its frame table. */
    void cover(long container, byte[] frameTable) throws IOException;

    /** Takes {@link #cover} back, for a container that was rewritten or removed. */
    void uncover(long container) throws IOException;

    /** The frame table given to {@link #cover}, or null if the container is not covered. */
    byte @Nullable [] frameTable(long container) throws IOException;

    /** Visits the id of every covered container, in rising order. */
    void forEachCovered(LongConsumer visitor) throws IOException;

    /** The epoch it was last stamped with; null if it never was, or was cleared since. */
    @Nullable
    Epoch epoch() throws IOException;

    /**
     * Writes the volume's epoch into the index; durable when it returns, and so before anything that is inserted later. An index that is
     * found with an epoch the volume does not know, or knows of containers the volume has not in common with it, is to be cleared: it
     * belongs to another time.
     */
    void stamp(Epoch epoch) throws IOException;

    /** The highest container that any chunk was inserted for, or that was covered, since the index was made or cleared; 0 if none. */
    long highestContainer() throws IOException;

    /** Forgets everything. Nothing else may run meanwhile. */
    void clear() throws IOException;

    /** Makes what was inserted so far survive a crash. Never needed for correctness. */
    void flush() throws IOException;

    /** Whether it is any use to tell it of chunks and containers. */
    default boolean keepsAnything() {
        return true;
    }

    /** Number of fingerprints, as near as the index knows it without reading itself. */
    long estimatedChunks();
}
