package org.opendedup.sar.restore.cache;

/** What was read of a container. Valid during the call that it is passed to, so that a reader can use one object again and again. */
public interface ContainerContents {
    /** Chunks that the container has, read or not. */
    int chunksInContainer();

    /** Chunks that were read. */
    int count();

    /**
     * The slot of a chunk that was read.
     *
     * @param index 0 to {@link #count()}, less one; slots rise with it
     */
    int slot(int index);

    /** The length of a chunk that was read. */
    int bytes(int index);
}
