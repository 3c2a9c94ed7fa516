package org.opendedup.sar.sim.device;

/**
 * The work of a device.
 *
 * @param reads requests served
 * @param writes likewise
 * @param busyNanos time during which it had work, in nanoseconds; of an array the sum over its devices
 * @param joules energy used, idle time included
 * @param deepestQueue the most requests that waited or were in service at once; of an array, at one of its devices
 */
public record DeviceStatistics(
        long reads, long writes, long readBytes, long writtenBytes, long busyNanos, double joules, int deepestQueue) {
    static final DeviceStatistics NONE = new DeviceStatistics(0, 0, 0, 0, 0, 0, 0);

    /** Returns the number of reads and writes. */
    public long requests() {
        return reads + writes;
    }

    /** Returns the sum of two devices. */
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
