package org.opendedup.sar.tier;

import java.util.function.Consumer;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.MapTable;

/**
 * What {@link DataDemotion} must see of an attached SSD: its Map table, how full it is, and how to take a chunk off. Safe for use
 * by many threads.
 */
public interface TierContents {
    /** Shows every entry; the visitor must not call back. See {@link MapTable#forEach}. */
    void forEach(Consumer<MapEntry> visitor);

    boolean contains(long chunkId);

    /** Fills {@code into} with a chunk's entry; false if there is none. */
    boolean get(long chunkId, MapEntry into);

    /** Demotes a chunk; false if it was not there. */
    boolean demote(long chunkId);

    /** Halves every entry's heat. */
    void age();

    /** Entries now. */
    int size();

    /** The most entries. */
    int maxEntries();

    /** Bytes of records that entries point to. */
    long liveBytes();

    /** The most of these. */
    long liveLimitBytes();

    /** Chunks that left because their records were not what was written. */
    long damaged();
}
