package org.opendedup.sar.sdfs.fuse.kernel;

/** Corrections of the kernel's cache of inodes, attributes and bytes, for cases that a reply cannot correct. */
interface KernelCache {
    /** Makes the kernel request the attributes of an inode when it next needs them. Cached pages stay. */
    void invalidate(long inode);

    /**
     * Makes the kernel send the written bytes of an inode, from offset {@code from} on, that it has not sent yet; then
     * answers a request. Returns at once, because the threads that serve requests must receive the bytes.
     *
     * @param inode number of the inode
     * @param from file offset in bytes
     * @param unique number of the request
     * @param answer computes the answer after the bytes have arrived
     */
    void answerAfterWriteBack(long inode, long from, long unique, LateAnswer answer);

    /** The delayed answer to a request. */
    @FunctionalInterface
    interface LateAnswer {
        /** Returns the number that is the body of the reply, or a negative error number. Never throws. */
        long get();
    }
}
