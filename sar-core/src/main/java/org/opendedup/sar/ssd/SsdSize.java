package org.opendedup.sar.ssd;

import org.opendedup.sar.container.format.Compression;

/** Predicts the space that copies of chunks need on an SSD and in memory. */
public final class SsdSize {
    /** Upper bound of the Map table's heap bytes per copy. */
    public static final int MAP_TABLE_BYTES_PER_COPY = 24;

    /** Compression of chunks on the SSD, each on its own. */
    public static final Compression COMPRESSION = RecordFormat.COMPRESSION;

    /** Log bytes of a full buffer of incompressible chunks of 4 KiB or less; a buffer is appended at once. */
    private static final long LEAST_APPENDED_BYTES = OfferQueue.BUFFER_BYTES + OfferQueue.BUFFER_BYTES / 8;

    private static final long MIB = 1 << 20;

    private SsdSize() {}

    /** Returns the smallest capacity with which anything is written to an SSD, in bytes, a whole number of MiB. */
    public static long leastCapacity() {
        long least = SpaceLimits.capacityFor(LEAST_APPENDED_BYTES);
        return (least + MIB - 1) / MIB * MIB;
    }

    /**
     * Returns the bytes of a copy in the log.
     *
     * @param storedLength bytes of the chunk, compressed; or uncompressed, if compression does not make it shorter
     */
    public static int record(int storedLength) {
        return RecordHeader.recordLength(storedLength, RecordHeader.VERSION);
    }

    /**
     * Returns the capacity, in bytes, of an SSD with room for copies, including the log's room for cleaning and the Map
     * table's database. 0 if there are no copies.
     *
     * @param copyBytes bytes of all copies in the log, as of {@link #record}
     */
    public static long capacityFor(long copyBytes) {
        return copyBytes == 0 ? 0 : SpaceLimits.capacityFor(copyBytes);
    }
}
