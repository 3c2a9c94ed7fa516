package org.opendedup.sar.sdfs.fuse.kernel;

/** What the kernel keeps of inodes, attributes and bytes, where a reply cannot put it right. */
interface KernelCache {
    /** Makes the kernel ask for an inode's attributes when it next needs them. Its pages stay. */
    void invalidate(long inode);

    /**
     * Has the kernel send the bytes it keeps of an inode from offset {@code from} on that were written and not sent yet, and
     * then answers a request. Returns at once: the threads that serve requests are needed for the bytes.
     *
     * @param unique number of the request
     */
    void answerAfterWriteBack(long inode, long from, long unique, LateAnswer answer);

    /** What a request is answered with in the end. */
    @FunctionalInterface
    interface LateAnswer {
        /** The number that is the reply's body, or a negative error number. Never throws. */
        long get();
    }
}
