package org.opendedup.sar.sim.device;

/**
 * Where the bytes of a disk lie: from the outermost zone inwards, in each zone track by track. A zone has as many bytes as its
 * share of the rates, since a track holds what passes under the head in a turn. Tracks of a cylinder need not be a whole number: a
 * zone's cylinders are shared out evenly over its tracks. No state.
 */
final class DiskGeometry {
    private static final double NANOS_PER_SECOND = 1e9;

    private final long revolutionNanos;
    private final int cylindersPerZone;
    /** First byte of each zone, and the capacity. */
    private final long[] zoneStarts;

    private final double[] bytesPerNano;

    DiskGeometry(DiskParameters disk) {
        revolutionNanos = disk.revolutionNanos();
        cylindersPerZone = disk.cylinders() / disk.zones();
        bytesPerNano = new double[disk.zones()];
        double sum = 0;
        for (int zone = 0; zone < disk.zones(); zone++) {
            double inwards = disk.zones() == 1 ? 0 : (double) zone / (disk.zones() - 1);
            double rate =
                    disk.outerBytesPerSecond() - inwards * (disk.outerBytesPerSecond() - disk.innerBytesPerSecond());
            bytesPerNano[zone] = rate / NANOS_PER_SECOND;
            sum += bytesPerNano[zone];
        }
        zoneStarts = new long[disk.zones() + 1];
        double reached = 0;
        for (int zone = 0; zone < disk.zones(); zone++) {
            reached += bytesPerNano[zone];
            zoneStarts[zone + 1] = Math.round(disk.capacityBytes() * (reached / sum));
        }
    }

    /** The zone of a byte. */
    int zone(long offset) {
        int low = 0;
        int high = bytesPerNano.length - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (zoneStarts[middle] <= offset) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    /** The cylinder of a byte. */
    int cylinder(long offset) {
        int zone = zone(offset);
        double within = (double) (offset - zoneStarts[zone]) / (zoneStarts[zone + 1] - zoneStarts[zone]);
        return zone * cylindersPerZone + (int) (within * cylindersPerZone);
    }

    /** The angle of a byte, as the nanoseconds after the start of a turn at which it comes under the head. */
    long angleNanos(long offset) {
        int zone = zone(offset);
        double trackBytes = bytesPerNano[zone] * revolutionNanos;
        double within = (offset - zoneStarts[zone]) % trackBytes;
        return (long) (within / bytesPerNano[zone]) % revolutionNanos;
    }

    /** Nanoseconds to transfer bytes, at the rate of the zone of the first. */
    long transferNanos(long offset, long bytes) {
        return Math.round(bytes / bytesPerNano[zone(offset)]);
    }

    /** Bytes transferred in a time, at the rate of that zone. */
    long bytesIn(long offset, long nanos) {
        return (long) (nanos * bytesPerNano[zone(offset)]);
    }
}
