package org.opendedup.sar.sdfs.jmx;

import java.util.List;
import java.util.function.ToLongFunction;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.restore.lookahead.StreamStatus;
import org.opendedup.sar.volume.parts.VolumeStatistics;

/** The cache of the sequential readers, as {@code type=RestoreCache} shows it. The names are stable. */
public record RestoreCacheFigures(
        @Figure(value = "Which chunks stay in memory after a reader has fetched them", unit = "name")
        String policy,

        @Figure(value = "Sequential readers that are read ahead now", unit = "readers")
        int readers,

        @Figure(value = "Bytes of chunks that are held in memory for them now", unit = "bytes")
        long heldBytes,

        @Figure(value = "Bytes that they requested", unit = "bytes")
        long readBytes,

        @Figure(value = "Bytes of these that were in memory", unit = "bytes")
        long memoryBytes,

        @Figure(value = "Bytes of these that came from the SSD", unit = "bytes")
        long ssdBytes,

        @Figure(value = "Compressed bytes that were read from the disk for them", unit = "bytes")
        long diskBytes,

        @Figure(value = "Frames found in memory since the volume was mounted, by all readers", unit = "frames")
        long frameHits,

        @Figure(value = "Frames read from the disk since the volume was mounted, by all readers", unit = "frames")
        long frameMisses) {
    public static RestoreCacheFigures of(String policy, List<StreamStatus> readers, VolumeStatistics statistics) {
        return new RestoreCacheFigures(
                policy,
                readers.size(),
                sum(readers, StreamStatus::heldBytes),
                sum(readers, StreamStatus::readBytes),
                sum(readers, StreamStatus::memoryBytes),
                sum(readers, StreamStatus::ssdBytes),
                sum(readers, StreamStatus::diskBytes),
                statistics.cacheHits(),
                statistics.cacheMisses());
    }

    private static long sum(List<StreamStatus> readers, ToLongFunction<StreamStatus> figure) {
        return readers.stream().mapToLong(figure).sum();
    }
}
