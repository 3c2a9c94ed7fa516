package org.opendedup.sar.sim.sar;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sim.device.DeviceStatistics;

/**
 * What a replay measured of one system.
 *
 * @param warmRequests before the window
 * @param readQuantiles how the responses of reads are distributed
 * @param disks all disks of the array together; their requests are those after splitting, parity included
 * @param ssd null if the system has none
 * @param joules of array and SSD over the replay
 * @param ssdShareOfBytes of what was read from devices
 * @param ssdShareOfReads read requests that needed the SSD and no disk, of all read requests
 * @param memoryBytes of the SSD's tables
 */
record SystemResult(
        long warmRequests,
        Responses.Summary reads,
        Responses.Summary writes,
        List<Responses.Quantile> readQuantiles,
        DeviceStatistics disks,
        @Nullable DeviceStatistics ssd,
        double joules,
        double ssdShareOfBytes,
        double ssdShareOfReads,
        long memoryBytes,
        List<Series.Point> series) {}
