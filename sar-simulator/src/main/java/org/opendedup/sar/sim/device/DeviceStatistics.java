package org.opendedup.sar.sim.device;

/**
 * What a device did.
 *
 * @param reads requests served
 * @param writes likewise
 * @param busyNanos time during which it had something to do; of an array the sum over its devices
 * @param joules energy taken, idle time included
 * @param deepestQueue the most requests that waited or were in service at once; of an array, at one of its devices
 */
public record DeviceStatistics(
        long reads, long writes, long readBytes, long writtenBytes, long busyNanos, double joules, int deepestQueue) {
    static final DeviceStatistics NONE = new DeviceStatistics(0, 0, 0, 0, 0, 0, 0);

    /** Reads and writes. */
    public long requests() {
        return reads + writes;
    }

    /** That of two devices together. */
    public DeviceStatistics plus(DeviceStatistics other) {
        return new DeviceStatistics(
                reads + other.reads,
                writes + other.writes,
                readBytes + other.readBytes,
                writtenBytes + other.writtenBytes,
                busyNanos + other.busyNanos,
                joules + other.joules,
                Math.max(deepestQueue, other.deepestQueue));
    }
}
