package org.opendedup.sar.sim.device;

/**
 * A hard disk.
 *
 * @param revolutionsPerMinute of the spindle
 * @param zones of equal numbers of cylinders, each with a transfer rate of its own
 * @param outerBytesPerSecond what the outermost zone transfers
 * @param innerBytesPerSecond what the innermost zone transfers; the zones between have rates in equal steps
 * @param interfaceBytesPerSecond what is in the disk's own memory is transferred at
 * @param overheadNanos of each request, before the disk moves
 * @param readAheadBytes what it reads on after a read while nothing else is wanted
 * @param readAheadSegments places in its memory of which it remembers what it read, each of at most twice the read-ahead
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

    /** Nanoseconds of a turn. */
    public long revolutionNanos() {
        return Math.round(NANOS_PER_MINUTE / revolutionsPerMinute);
    }
}
