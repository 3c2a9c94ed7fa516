package org.opendedup.sar.sdfs.jmx;

import java.util.Locale;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.disk.DiskStatus;

/**
 * What the disk of the containers is taken for, and who uses it: the first line of {@code sdfscli VOLUME top}, and
 * attributes of {@code type=Streams}. The names are stable.
 */
public record DiskFigures(
        @Figure(value = "Whether the figures of the disk are configured, assumed or measured", unit = "name")
        String source,

        @Figure(value = "Time to the next range of a container", unit = "milliseconds")
        double skipMillis,

        @Figure(value = "Time to another container", unit = "milliseconds")
        double seekMillis,

        @Figure(value = "Speed of the disk, in millions of bytes", unit = "MB per second")
        double mbPerSecond,

        @Figure(value = "Gaps between wanted ranges up to this length are read", unit = "bytes")
        long gapBytes,

        @Figure(value = "Most readers at the disk at once", unit = "readers")
        int requestsAtOnce,

        @Figure(value = "Readers at the disk", unit = "readers")
        int readers,

        @Figure(value = "Readers that wait for their turn", unit = "readers")
        int waiting,

        @Figure(value = "Works in the background that wait for their turn", unit = "works")
        int background) {
    public static DiskFigures of(DiskStatus disk) {
        DiskModel model = disk.model();
        return new DiskFigures(
                model.source().name().toLowerCase(Locale.ROOT),
                model.skipNanos() / 1e6,
                model.seekNanos() / 1e6,
                model.bytesPerSecond() / 1e6,
                model.gapBytes(),
                disk.requestsAtOnce(),
                disk.readers(),
                disk.waiting(),
                disk.background());
    }
}
