package org.opendedup.sar.ssd;

import org.opendedup.sar.container.Compression;

/** What copies of chunks take on an SSD and in memory, for those who predict it. */
public final class SsdSize {
    /** Of the Map table's memory, for each copy, at most. */
    public static final int MAP_TABLE_BYTES_PER_COPY = 24;

    /** How chunks are compressed there, each by itself. */
    public static final Compression COMPRESSION = RecordFormat.COMPRESSION;

    private SsdSize() {}

    /**
     * Bytes of a copy in the log.
     *
     * @param storedLength of the chunk, compressed; or as it is, if that does not make it shorter
     */
    public static int record(int storedLength) {
        return RecordFormat.recordLength(storedLength);
    }

    /**
     * Capacity of an SSD on which there is room for copies: the log's room for cleaning and the Map table's database included. 0 if
     * there are no copies.
     *
     * @param copyBytes bytes of all copies in the log, as of {@link #record}
     */
    public static long capacityFor(long copyBytes) {
        return copyBytes == 0 ? 0 : SpaceLimits.capacityFor(copyBytes);
    }
}
