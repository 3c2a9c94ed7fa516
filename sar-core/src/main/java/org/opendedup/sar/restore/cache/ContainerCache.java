package org.opendedup.sar.restore.cache;

/**
 * Decides which chunks one sequential reader keeps in memory, of the containers that it reads. It makes the decisions;
 * a {@link ChunkHolder} holds the bytes. One object serves one reader from the beginning to the end of its recipe, by
 * one thread at a time.
 *
 * <p>The reader passes the recipe's references in order, ahead of their use. The oldest reference that was passed and
 * not yet used is the <em>current</em> one. For each:
 *
 * <pre>
 * while (passed less than windowBytes() beyond the current reference, and the recipe has more) ahead(next reference)
 * if (!contains(current)) { read its container; read(container, contents) }
 * advance()
 * </pre>
 *
 * <p>A reader may process a <em>batch</em> of several references at once. It passes all of them and the window beyond,
 * and calls {@link #contains} for each. It reads the missing containers in any order, each once, calling {@link #read}.
 * Then it calls {@link #advance} for each reference. Meanwhile the reader holds what the batch needs:
 * {@link ChunkHolder#drop} means that the cache does not want a chunk any more, not that the batch is done with it.
 * Every policy decides by the order of the references alone, so passing more than the window is no error: the policy
 * decides as with its window.
 *
 * <p>Nothing is allocated for a reference once the tables have grown to the size of the window and the memory.
 */
public interface ContainerCache {
    /**
     * Returns how much of the recipe this policy wants to know, in bytes of references beyond the current one. 0: none;
     * {@link Long#MAX_VALUE}: all, but the reader may pass less, to bound its memory.
     */
    long windowBytes();

    /**
     * Adds the next reference of the recipe to the head of the window. Runs of zeros are not references.
     *
     * @param chunkId as of {@link org.opendedup.sar.common.ChunkId}; not {@code NONE}
     * @param bytes length of the chunk, in bytes
     */
    void ahead(long chunkId, int bytes);

    /** Whether a chunk is in memory. Changes nothing. */
    boolean contains(long chunkId);

    /**
     * Whether a chunk that is not in memory would be kept for a while if it were read now. Used to plan which parts of
     * a container to read. Changes nothing.
     */
    boolean wants(long chunkId);

    /**
     * Notes that a container was read, whole or in part, because of a reference in the window. Decides which chunks
     * stay in memory, within the memory limit, and notifies the {@link ChunkHolder}.
     */
    void read(long container, ContainerContents contents);

    /**
     * Whether this policy keeps containers as a whole: a reader then reads all of a container, whatever it wants of it.
     */
    default boolean takesWholeContainers() {
        return false;
    }

    /** Notes that the current reference was used: it leaves the window, which slides by one chunk. */
    void advance();

    /** Bytes of chunks in memory now. */
    long weightBytes();

    /** Most bytes of chunks that were in memory at one time. */
    long highWaterBytes();

    /** Current heap bytes of the tables that the decisions need, window included. */
    long tableBytes();
}
