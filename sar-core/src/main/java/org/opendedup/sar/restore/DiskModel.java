package org.opendedup.sar.restore;

import org.opendedup.sar.tier.DiskCost;

/**
 * What a hard disk takes for reading: each request a seek, and the time to transfer its bytes.
 *
 * @param seekMillis mean time from a request to its first byte
 * @param bytesPerSecond transfer rate from there on
 */
public record DiskModel(double seekMillis, long bytesPerSecond) {
    /** A 7200 rpm disk: {@link DiskCost}'s figures. */
    public static final DiskModel DEFAULT =
            new DiskModel(DiskCost.SEEK_MICROS / 1e3, DiskCost.BYTES_PER_MICRO * 1_000_000L);

    public DiskModel {
        if (!(seekMillis >= 0) || bytesPerSecond <= 0) {
            throw new IllegalArgumentException(
                    "a disk seeks in 0 ms or more and transfers 1 byte a second or more, not " + seekMillis + " ms and "
                            + bytesPerSecond);
        }
    }

    /** Seconds that so many requests of so many bytes in all take. */
    public double seconds(long requests, long bytes) {
        return requests * seekMillis / 1e3 + (double) bytes / bytesPerSecond;
    }

    /** Unwanted bytes that are transferred in the time of a seek: a gap of up to so many is cheaper read along. */
    public long seekBytes() {
        return (long) (seekMillis * bytesPerSecond / 1e3);
    }
}
