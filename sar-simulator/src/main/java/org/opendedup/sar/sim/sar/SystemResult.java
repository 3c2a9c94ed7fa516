package org.opendedup.sar.sim.sar;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sim.device.DeviceStatistics;

/**
 * The measurements of a replay on one system.
 *
 * @param warmRequests number of requests before the window
 * @param readQuantiles distribution of the responses of reads
 * @param disks all disks of the array together; their requests are those after splitting, parity included
 * @param ssd null if the system has none
 * @param joules energy of array and SSD over the replay
 * @param ssdShareOfBytes share of the bytes read from devices that the SSD served
 * @param ssdShareOfReads read requests that needed the SSD and no disk, as a share of all read requests
 * @param memoryBytes memory of the SSD's tables
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
