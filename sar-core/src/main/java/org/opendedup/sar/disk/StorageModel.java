package org.opendedup.sar.disk;

/**
 * Cost model of the device that holds the containers, used to plan reads. {@link DiskModel} is the hard disk of
 * predictions, whatever the device is.
 *
 * @param skipNanos time from the end of a request to the first byte of one a little further on in the same container,
 *     in nanoseconds
 * @param seekNanos the same time to a request in another container, in nanoseconds
 * @param bytesPerSecond transfer rate after the first byte, in bytes a second
 * @param source where these figures were taken from
 */
public record StorageModel(long skipNanos, long seekNanos, long bytesPerSecond, Source source) {
    /** Least gap, in bytes: two pages of the kernel's cache at either end are read in any case. */
    static final int MIN_GAP_BYTES = 16 << 10;
    /**
     * Most bytes of a gap: half of the largest request. A request that joins two frames over a larger gap is nearly all
     * waste.
     */
    static final int MAX_GAP_BYTES = 2 << 20;

    /**
     * A disk of 7200 rpm: a short seek and half a turn (1 + 4.2 ms) to skip; {@link DiskCost}'s figures for the rest.
     */
    public static final StorageModel HDD = new StorageModel(
            5_200_000, DiskCost.SEEK_MICROS * 1_000L, DiskCost.BYTES_PER_MICRO * 1_000_000L, Source.ASSUMED);

    /** A SATA SSD: 0.1 ms a request, 500 MB/s. */
    public static final StorageModel SSD = new StorageModel(100_000, 100_000, 500_000_000, Source.ASSUMED);

    /** Where a model was taken from. */
    public enum Source {
        /** Set by the administrator. */
        CONFIGURED,
        /** Assumed by the kind of device, until enough is measured. */
        ASSUMED,
        /** Measured with the volume's own reads. */
        MEASURED
    }

    public StorageModel {
        if (skipNanos < 0 || seekNanos < 0 || bytesPerSecond <= 0) {
            throw new IllegalArgumentException(
                    "a device needs 0 ns or more to skip and to seek, and transfers 1 byte a second or" + " more, not "
                            + skipNanos + " ns, " + seekNanos + " ns and " + bytesPerSecond);
        }
    }

    StorageModel from(Source other) {
        return new StorageModel(skipNanos, seekNanos, bytesPerSecond, other);
    }

    /**
     * Returns the largest gap, in bytes, between two wanted ranges of a container that is read rather than skipped: its
     * transfer takes as long as a skip. From {@value #MIN_GAP_BYTES} to {@value #MAX_GAP_BYTES}. Gaps are independent
     * of each other, so joining over these gaps and no others is the cheapest plan for the wanted bytes of a container;
     * if all its gaps are this small, it is one read. Bytes ahead of the first range and after the last are never worth
     * a read: those that the reader's window wants are wanted ranges themselves.
     */
    public int gapBytes() {
        double bytes = (double) skipNanos * bytesPerSecond / 1e9;
        return (int) Math.max(MIN_GAP_BYTES, Math.min(MAX_GAP_BYTES, bytes));
    }
}
