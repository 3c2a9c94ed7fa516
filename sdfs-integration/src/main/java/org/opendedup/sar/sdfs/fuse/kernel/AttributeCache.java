package org.opendedup.sar.sdfs.fuse.kernel;

/** What the kernel remembers of inodes, where a reply cannot correct it. */
@FunctionalInterface
interface AttributeCache {
    /** Makes the kernel ask for an inode's attributes when it next needs them. Its pages stay. */
    void invalidate(long inode);
}
