package org.opendedup.sar.sdfs.fuse.kernel;

import java.nio.ByteBuffer;

/**
 * Corrections of the kernel's cache of inodes, attributes and bytes, for cases that a reply cannot correct; and replies
 * that other threads send.
 */
interface KernelCache {
    /** Makes the kernel request the attributes of an inode when it next needs them. Cached pages stay. */
    void invalidate(long inode);

    /**
     * Makes the kernel send the written bytes of an inode, from offset {@code from} on, that it has not sent yet; then
     * answers a request. Returns at once, because the threads that serve requests must receive the bytes.
     *
     * @param asker whose request it is
     * @param inode number of the inode
     * @param from file offset in bytes
     * @param answer computes the answer after the bytes have arrived
     */
    void answerAfterWriteBack(Asker asker, long inode, long from, LateAnswer answer);

    /**
     * Answers a request that may take long when its user has a turn, so that other requests do not wait for it.
     *
     * @param answer computes the answer
     */
    void answerInTurn(Asker asker, LateAnswer answer);

    /**
     * As {@link #answerInTurn}, for a change that may have been made in part if the answer is an error. The kernel then
     * drops its pages of an inode from an offset on before the answer; it sends those first that it has not sent.
     */
    void answerOrDropPages(Asker asker, long inode, long from, LateAnswer answer);

    /**
     * Does what {@link #answerInTurn} does with a reply that has more than a number.
     *
     * @param takesMinutes whether the request may, so that others do not wait for it
     */
    void replyInTurn(Asker asker, boolean takesMinutes, LateReply reply);

    /**
     * Whose request is answered.
     *
     * @param user user ID of the program
     * @param unique number of the request
     */
    record Asker(int user, long unique) {}

    /** The delayed answer to a request. */
    @FunctionalInterface
    interface LateAnswer {
        /** Value of {@link #get}: success, by a reply without a body. */
        long DONE = Long.MAX_VALUE;

        /**
         * Returns the number that is the body of the reply, {@link #DONE}, or a negative error number. Never throws.
         */
        long get();
    }

    /** The delayed reply to a request. */
    interface LateReply {
        /**
         * Returns the whole reply, from the first byte of a direct buffer to its limit; no byte if another thread
         * answers. Never throws.
         */
        ByteBuffer get();

        /** Undoes the effects of a reply that the kernel did not accept. Never throws. */
        void takeBack();
    }
}
