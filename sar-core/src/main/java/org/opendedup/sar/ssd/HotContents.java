package org.opendedup.sar.ssd;

import java.util.function.Consumer;

/**
 * The part of an attached SSD that {@code DataDemotion} needs: its Map table, its fill level, and a way to remove a
 * chunk. Safe for use by many threads.
 */
public interface HotContents {
    /** Passes every entry to the visitor, which must not call back. See {@link MapTable#forEach}. */
    void forEach(Consumer<MapEntry> visitor);

    boolean contains(long chunkId);

    /** Copies a chunk's entry to {@code into}; returns false if there is none. */
    boolean get(long chunkId, MapEntry into);

    /** Demotes a chunk; returns false if it was absent. */
    boolean demote(long chunkId);

    /** Sets a chunk's reference count in the table; ignored if the chunk is absent. */
    void setCount(long chunkId, int count);

    /** Halves every entry's heat. */
    void age();

    /** Returns the current number of entries. */
    int size();

    /** Returns the largest number of entries allowed. */
    int maxEntries();

    /** Returns the bytes of the records that entries point to. */
    long liveBytes();

    /** Returns the limit of {@link #liveBytes}, in bytes. */
    long liveLimitBytes();

    /** Returns the number of chunks removed because their records differed from what was written. */
    long damaged();
}
