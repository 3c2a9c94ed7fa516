package org.opendedup.sar.restore.cache;

/**
 * What one sequential reader keeps in memory of the containers it reads: the decisions, not the bytes. One object serves one
 * reader from the beginning to the end of its recipe, by one thread at a time.
 *
 * <p>The reader tells the recipe's references in order, ahead of their use; the oldest that was told and not yet used is the
 * <em>current</em> one. For each:
 *
 * <pre>
 * while (told less than windowBytes() beyond the current reference, and the recipe goes on) ahead(next reference)
 * if (!contains(current)) { read its container; read(container, contents) }
 * advance()
 * </pre>
 *
 * <p>A reader may take a <em>step</em> of several references at once: it tells all of them and the window beyond, asks {@link
 * #contains} for each, reads the containers that lack in any order, each once, calling {@link #read}, and then {@link #advance} for
 * each reference. What the step needs it holds itself meanwhile: {@link ChunkHolder#drop} says that the cache wants a chunk no
 * longer, not that the step is done with it. Every policy decides by the order of the references alone, so telling more than the
 * window is no error: it decides as with that window.
 *
 * <p>Nothing is allocated for a reference once the tables have grown to the window's and the memory's size.
 */
public interface ContainerCache {
    /**
     * How much of the recipe this policy wants to know: bytes of references beyond the current one. 0: none; {@link
     * Long#MAX_VALUE}: all, and the reader may still tell less, to bound its memory.
     */
    long windowBytes();

    /**
     * The next reference of the recipe enters the window at its head. Runs of zeros are no references.
     *
     * @param chunkId as of {@link org.opendedup.sar.common.ChunkId}; not {@code NONE}
     * @param bytes the chunk's length
     */
    void ahead(long chunkId, int bytes);

    /** Whether a chunk is in memory. Changes nothing. */
    boolean contains(long chunkId);

    /**
     * Whether a chunk that is not in memory would be kept for a while if it were read now, for who plans which parts of a container to
     * read. Changes nothing.
     */
    boolean wants(long chunkId);

    /**
     * A container was read, whole or in part, because of a reference in the window. Decides what stays in memory, within the memory
     * given, and tells the {@link ChunkHolder}.
     */
    void read(long container, ContainerContents contents);

    /** Whether this policy takes containers as a whole: a reader is to read all of one, whatever it wants of it. */
    default boolean takesWholeContainers() {
        return false;
    }

    /** The current reference was used: it leaves the window, which slides by one chunk. */
    void advance();

    /** Bytes of chunks in memory now. */
    long weightBytes();

    /** The most bytes of chunks that were in memory at one time. */
    long highWaterBytes();

    /** Heap bytes of the tables that the decisions need, window included, as they are now. */
    long tableBytes();
}
