package org.opendedup.sar.concurrent;

/**
 * The result of a call.
 *
 * @param text the answer in words, the same for every right file system; of the times nothing
 * @param inode the inode that a lookup, make or link retained, else 0
 * @param type its type
 */
record Answer(String text, long inode, int type) {
    static Answer of(String text) {
        return new Answer(text, 0, 0);
    }

    static Answer refused(String reason) {
        return of("refused: " + reason);
    }

    static Answer failed(Throwable failure) {
        return of("FAILED: " + failure);
    }

    boolean isRefusal() {
        return text.startsWith("refused");
    }
}
