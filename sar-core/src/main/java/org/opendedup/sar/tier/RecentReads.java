package org.opendedup.sar.tier;

/** Remembers what was lately read from the disk: {@link LruList#noteRead} of the list in use. Safe for use by many threads. */
@FunctionalInterface
public interface RecentReads {
    /** Notes a read; returns whether the chunk was remembered, and is no more. */
    boolean noteRead(long chunkId, int length);
}
