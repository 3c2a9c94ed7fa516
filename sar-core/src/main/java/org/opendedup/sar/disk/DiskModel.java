package org.opendedup.sar.disk;

/**
 * Cost model of a hard disk for predictions: each request costs a seek and the transfer of its bytes.
 * {@link StorageModel} is the model of the actual device.
 *
 * @param seekMillis mean time from a request to its first byte, in milliseconds
 * @param bytesPerSecond transfer rate after the first byte, in bytes a second
 */
public record DiskModel(double seekMillis, long bytesPerSecond) {
    /** A 7200 rpm disk, with the figures of {@link DiskCost}. */
    public static final DiskModel DEFAULT =
            new DiskModel(DiskCost.SEEK_MICROS / 1e3, DiskCost.BYTES_PER_MICRO * 1_000_000L);

    public DiskModel {
        if (!(seekMillis >= 0) || bytesPerSecond <= 0) {
            throw new IllegalArgumentException(
                    "a disk seeks in 0 ms or more and transfers 1 byte a second or more, not " + seekMillis + " ms and "
                            + bytesPerSecond);
        }
    }

    /**
     * Returns the time of reading, in seconds.
     *
     * @param requests number of requests
     * @param bytes bytes of all requests together
     */
    public double seconds(long requests, long bytes) {
        return requests * seekMillis / 1e3 + (double) bytes / bytesPerSecond;
    }

    /**
     * Returns the number of bytes that are transferred in the time of a seek: reading over a gap of up to this size is
     * cheaper than a seek.
     */
    public long seekBytes() {
        return (long) (seekMillis * bytesPerSecond / 1e3);
    }
}
