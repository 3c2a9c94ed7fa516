package org.opendedup.sar.sdfs.fuse.kernel;

/** What the kernel remembers of inodes, where a reply cannot correct it. */
@FunctionalInterface
interface AttributeCache {
    /** Makes the kernel ask for an inode's attributes when it next needs them. Its pages stay. */
    void invalidate(long inode);

    /**
     * Has the kernel send the bytes it keeps of an inode from offset {@code from} on that were written and not sent yet, and
     * waits until they were served.
     *
     * @return false if it cannot be waited for now
     */
    default boolean writeBack(long inode, long from) {
        return true;
    }
}
