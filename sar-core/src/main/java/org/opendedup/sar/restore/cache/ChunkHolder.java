package org.opendedup.sar.restore.cache;

/**
 * Holds the bytes that a {@link ContainerCache} decides about. During {@link ContainerCache#read} it is notified which
 * of the chunks read to keep. During that call and {@link ContainerCache#advance} it is notified which chunks to drop.
 */
public interface ChunkHolder {
    /** Holds nothing: for callers that only count reads. */
    ChunkHolder NONE = new ChunkHolder() {
        @Override
        public void keep(long chunkId) {}

        @Override
        public void drop(long chunkId) {}
    };

    /** Keeps a chunk of the container just read. Not called again for a chunk that is already kept. */
    void keep(long chunkId);

    /** Drops a chunk that was kept and is not wanted any more. */
    void drop(long chunkId);
}
