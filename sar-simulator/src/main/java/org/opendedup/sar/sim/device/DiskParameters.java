package org.opendedup.sar.sim.device;

/**
 * Parameters of a hard disk.
 *
 * @param revolutionsPerMinute speed of the spindle
 * @param zones number of zones, each with the same number of cylinders and a transfer rate of its own
 * @param outerBytesPerSecond transfer rate of the outermost zone
 * @param innerBytesPerSecond transfer rate of the innermost zone; the zones between have rates in equal steps
 * @param interfaceBytesPerSecond transfer rate of data in the disk's own memory
 * @param overheadNanos overhead of each request, ahead of any movement, in nanoseconds
 * @param readAheadBytes bytes that it continues to read after a read while there is no other request
 * @param readAheadSegments number of segments in its memory that hold what it read, each of at most twice the
 *     read-ahead
 */
public record DiskParameters(
        long capacityBytes,
        int cylinders,
        int revolutionsPerMinute,
        Seeks seeks,
        int zones,
        double outerBytesPerSecond,
        double innerBytesPerSecond,
        double interfaceBytesPerSecond,
        long overheadNanos,
        long readAheadBytes,
        int readAheadSegments,
        Power power) {

    /** The shortest seek, the mean of all and the longest, in milliseconds. */
    public record Seeks(double leastMillis, double averageMillis, double mostMillis) {}

    private static final double NANOS_PER_MINUTE = 60e9;

    /** Returns the nanoseconds of one revolution. */
    public long revolutionNanos() {
        return Math.round(NANOS_PER_MINUTE / revolutionsPerMinute);
    }
}
