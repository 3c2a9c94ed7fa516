package org.opendedup.sar.restore.cache;

/**
 * Has the bytes that a {@link ContainerCache} decides about. It is told during {@link ContainerCache#read} what to keep of what was
 * read, and during that and {@link ContainerCache#advance} what to drop.
 */
public interface ChunkHolder {
    /** Holds nothing: for who only counts reads. */
    ChunkHolder NONE = new ChunkHolder() {
        @Override
        public void keep(long chunkId) {}

        @Override
        public void drop(long chunkId) {}
    };

    /** Of the container just read, this chunk stays in memory. Not called again for one that is kept already. */
    void keep(long chunkId);

    /** A chunk that was kept is wanted no longer. */
    void drop(long chunkId);
}
