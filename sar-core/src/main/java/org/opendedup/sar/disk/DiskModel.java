package org.opendedup.sar.disk;

import org.opendedup.sar.io.RequestCost;

/**
 * Cost model of a disk: each request takes the time to its first byte, and the transfer time of its bytes.
 *
 * <p>There are two uses. {@link DiskQueue#model} is the model of the device that holds the containers, as it was
 * configured, assumed or measured; reads are planned with it. Predictions (fragmentation, estimates) take {@link #HDD},
 * or what their user gives, whatever the device is, so that their figures can be compared.
 *
 * @param skipNanos time from the end of a request to the first byte of one a little further on, in nanoseconds
 * @param seekNanos mean time from the end of a request to the first byte of one elsewhere, in nanoseconds
 * @param bytesPerSecond transfer rate after the first byte, in bytes a second
 * @param source where these figures were taken from
 */
public record DiskModel(long skipNanos, long seekNanos, long bytesPerSecond, Source source) {
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
    public static final DiskModel HDD = new DiskModel(
            5_200_000, DiskCost.SEEK_MICROS * 1_000L, DiskCost.BYTES_PER_MICRO * 1_000_000L, Source.ASSUMED);

    /** A SATA SSD: 0.1 ms a request, 500 MB/s. */
    public static final DiskModel SSD = new DiskModel(100_000, 100_000, 500_000_000, Source.ASSUMED);

    /**
     * An object store of which nothing is measured yet. A request takes some milliseconds to its first byte (2.6 ms of
     * a gateway in the same rack) and as many as {@link StoreRequests#LANES} run at the same time: so one request more
     * costs 0.4 ms of the whole.
     */
    static final DiskModel STORE = new DiskModel(400_000, 3_000_000, 500_000_000, Source.ASSUMED);

    /** Where a model was taken from. */
    public enum Source {
        /** Set by the administrator, or the user of a prediction. */
        CONFIGURED,
        /** Assumed by the kind of device, until enough is measured. */
        ASSUMED,
        /** Measured with the volume's own reads. */
        MEASURED
    }

    public DiskModel {
        if (skipNanos < 0 || seekNanos < 0 || bytesPerSecond <= 0) {
            throw new IllegalArgumentException(
                    "a device needs 0 ns or more to skip and to seek, and transfers 1 byte a second or more, not "
                            + skipNanos + " ns, " + seekNanos + " ns and " + bytesPerSecond);
        }
    }

    /**
     * Returns the model of a disk that needs the same time to skip as to seek.
     *
     * @param seekMillis time from one request to the first byte of the next, in milliseconds
     * @param bytesPerSecond transfer rate after the first byte, in bytes a second
     * @throws IllegalArgumentException if a figure is out of range
     */
    public static DiskModel configured(double seekMillis, long bytesPerSecond) {
        if (!(seekMillis >= 0)) {
            throw new IllegalArgumentException("a disk seeks in 0 ms or more, not " + seekMillis + " ms");
        }
        long nanos = Math.round(seekMillis * 1e6);
        return new DiskModel(nanos, nanos, bytesPerSecond, Source.CONFIGURED);
    }

    /** Returns the model of an object store by the cost of its requests: lanes hide the latency of each other. */
    static DiskModel of(RequestCost cost) {
        return new DiskModel(
                cost.latencyNanos() / cost.lanes(),
                cost.latencyNanos(),
                cost.laneBytesPerSecond() * cost.lanes(),
                cost.isMeasured() ? Source.MEASURED : Source.ASSUMED);
    }

    DiskModel from(Source other) {
        return new DiskModel(skipNanos, seekNanos, bytesPerSecond, other);
    }

    /** Returns the time of a seek, in milliseconds. */
    public double seekMillis() {
        return seekNanos / 1e6;
    }

    /**
     * Predicts the time of reading, in seconds.
     *
     * @param requests number of requests, each after a seek
     * @param bytes bytes of all requests together
     */
    public double seconds(long requests, long bytes) {
        return requests * (double) seekNanos / 1e9 + (double) bytes / bytesPerSecond;
    }

    /**
     * Returns the number of bytes that are transferred in the time of a seek. Predictions read over gaps of up to this
     * size.
     */
    public long seekBytes() {
        return (long) ((double) seekNanos * bytesPerSecond / 1e9);
    }

    /**
     * Returns the largest gap, in bytes, between two wanted ranges that is read rather than skipped: its transfer takes
     * as long as a skip. From {@value #MIN_GAP_BYTES} to {@value #MAX_GAP_BYTES}. Gaps are independent of each other,
     * so joining over these gaps and no others is the cheapest plan for the wanted bytes of a container; if all its
     * gaps are this small, it is one read. Bytes ahead of the first range and after the last are never worth a read:
     * those that the reader's window wants are wanted ranges themselves.
     */
    public int gapBytes() {
        double bytes = (double) skipNanos * bytesPerSecond / 1e9;
        return (int) Math.max(MIN_GAP_BYTES, Math.min(MAX_GAP_BYTES, bytes));
    }
}
