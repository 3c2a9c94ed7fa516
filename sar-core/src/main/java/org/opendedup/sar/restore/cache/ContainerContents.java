package org.opendedup.sar.restore.cache;

/**
 * The chunks that were read of a container. Valid only during the call that it is passed to, so that a reader can reuse
 * one object.
 */
public interface ContainerContents {
    /** Number of chunks in the container, read or not. Those that were removed from it do not count. */
    int chunksInContainer();

    /** Number of slots of the container, also of removed chunks: more than any slot. */
    default int slotsInContainer() {
        return chunksInContainer();
    }

    /** Number of chunks that were read. */
    int count();

    /**
     * Returns the slot of a chunk that was read.
     *
     * @param index 0 to {@link #count()}, less one; slots rise with it
     */
    int slot(int index);

    /** Returns the length of a chunk that was read, in bytes. */
    int bytes(int index);
}
