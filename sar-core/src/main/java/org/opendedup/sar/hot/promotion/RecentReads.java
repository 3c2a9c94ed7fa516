package org.opendedup.sar.hot.promotion;

/** Remembers the chunks recently read: {@code LruList.noteRead} of the list in use. Safe for use by many threads. */
@FunctionalInterface
public interface RecentReads {
    /** Notes a read; returns whether the chunk was remembered, and then forgets it. */
    boolean noteRead(long chunkId, int length);
}
