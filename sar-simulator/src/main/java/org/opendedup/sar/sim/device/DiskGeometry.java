package org.opendedup.sar.sim.device;

/**
 * Layout of the bytes on a disk: from the outermost zone inwards, in each zone track by track. A zone has as many bytes
 * as its share of the rates, because a track holds what passes under the head in one revolution. The number of tracks
 * of a cylinder need not be whole: a zone's cylinders are spread evenly over its tracks. No state.
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

    /** Returns the zone of a byte. */
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

    /** Returns the cylinder of a byte. */
    int cylinder(long offset) {
        int zone = zone(offset);
        double within = (double) (offset - zoneStarts[zone]) / (zoneStarts[zone + 1] - zoneStarts[zone]);
        return zone * cylindersPerZone + (int) (within * cylindersPerZone);
    }

    /**
     * Returns the angle of a byte: the time from the start of a revolution until it is under the head, in nanoseconds.
     */
    long angleNanos(long offset) {
        int zone = zone(offset);
        double trackBytes = bytesPerNano[zone] * revolutionNanos;
        double within = (offset - zoneStarts[zone]) % trackBytes;
        return (long) (within / bytesPerNano[zone]) % revolutionNanos;
    }

    /** Returns the nanoseconds to transfer bytes, at the rate of the first byte's zone. */
    long transferNanos(long offset, long bytes) {
        return Math.round(bytes / bytesPerNano[zone(offset)]);
    }

    /** Returns the bytes transferred in a time, at the rate of that zone. */
    long bytesIn(long offset, long nanos) {
        return (long) (nanos * bytesPerNano[zone(offset)]);
    }
}
