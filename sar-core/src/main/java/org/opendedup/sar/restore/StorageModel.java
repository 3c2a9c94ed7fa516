package org.opendedup.sar.restore;

import org.opendedup.sar.tier.DiskCost;

/**
 * What reading costs on the device that holds the containers: what plans of reads are made by. {@link DiskModel} is the hard disk of
 * predictions, whatever the device is.
 *
 * @param skipNanos from the end of a request to the first byte of one a little further on, in the same container
 * @param seekNanos the same, to one in another container
 * @param bytesPerSecond transfer rate from there on
 * @param source where these come from
 */
public record StorageModel(long skipNanos, long seekNanos, long bytesPerSecond, Source source) {
    /** Two pages of the kernel's cache at either end are read in any case. */
    static final int MIN_GAP_BYTES = 16 << 10;
    /** Half of the largest request: one that joins two frames over more is nearly all waste. */
    static final int MAX_GAP_BYTES = 2 << 20;

    /** A disk of 7200 rpm: a short seek and half a turn (1 + 4.2 ms) to skip, {@link DiskCost}'s figures for the rest. */
    public static final StorageModel HDD = new StorageModel(
            5_200_000, DiskCost.SEEK_MICROS * 1_000L, DiskCost.BYTES_PER_MICRO * 1_000_000L, Source.ASSUMED);

    /** A SATA SSD: 0.1 ms a request, 500 MB/s. */
    public static final StorageModel SSD = new StorageModel(100_000, 100_000, 500_000_000, Source.ASSUMED);

    /** Where a model comes from. */
    public enum Source {
        /** The administrator said so. */
        CONFIGURED,
        /** By the kind of device, until enough is measured. */
        ASSUMED,
        /** From the volume's own reads. */
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
     * Unwanted bytes between two wanted ranges of a container that are rather read than skipped: they pass in the time of a skip, from
     * {@value #MIN_GAP_BYTES} to {@value #MAX_GAP_BYTES}. As gaps are independent of each other, joining over those and no others
     * is the cheapest plan for the wanted bytes of a container; where all gaps are so small, it is one read. Bytes before
     * the first range and behind the last are never worth a read: those that the reader's window wants are wanted ranges themselves.
     */
    public int gapBytes() {
        double bytes = (double) skipNanos * bytesPerSecond / 1e9;
        return (int) Math.max(MIN_GAP_BYTES, Math.min(MAX_GAP_BYTES, bytes));
    }
}
