package org.opendedup.sar.concurrent;

import org.jspecify.annotations.Nullable;

/**
 * The result of a call.
 *
 * @param text the answer in words, the same for every right file system; of the times nothing
 * @param inode the inode that a lookup, make or link retained, else 0
 * @param type its type
 * @param size the length of a file that it shows, in bytes; null if it shows none, or if that is not compared
 */
record Answer(String text, long inode, int type, @Nullable Long size) {
    static Answer of(String text) {
        return new Answer(text, 0, 0, null);
    }

    Answer withSize(@Nullable Long shown) {
        return new Answer(text, inode, type, shown);
    }

    /** Returns whether a right file system, which answers this, could have answered the other. */
    boolean explains(Answer other) {
        return text.equals(other.text) && (other.size == null || other.size.equals(size));
    }

    @Override
    public String toString() {
        return size == null ? text : text + " size " + size;
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
