package org.opendedup.sar.sdfs.cli.report;

import java.util.Locale;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.volume.rewrite.Defragmentation;

/** How fragmented a file is, as {@code sdfscli VOLUME file} shows it. The names are stable. */
public record FragmentationReport(
        long bytes,
        long chunks,
        long uniqueBytes,
        long storedBytes,
        long containers,
        double meanUse,
        long sparseContainers,
        double sparseShare,
        long containerReads,
        double speedFactor,
        long diskRequests,
        long diskBytes,
        double diskSeconds,
        double restoreBytesPerSecond) {
    private static final String LINE = "  %-24s %14s%s%n";

    /** What a defragmentation did, with the file before and after it; see {@link Defragmentation}. */
    public record Rewritten(
            FragmentationReport before,
            FragmentationReport after,
            long sparseContainers,
            long wantedBytes,
            long rewrittenChunks,
            long rewrittenBytes,
            long unreadableChunks) {
        public static Rewritten of(Defragmentation done, DiskModel disk) {
            return new Rewritten(
                    FragmentationReport.of(done.before(), disk),
                    FragmentationReport.of(done.after(), disk),
                    done.sparseContainers(),
                    done.wantedBytes(),
                    done.rewrittenChunks(),
                    done.rewrittenBytes(),
                    done.unreadableChunks());
        }
    }

    public static FragmentationReport of(FileFragmentation file, DiskModel disk) {
        return new FragmentationReport(
                file.bytes(),
                file.references(),
                file.uniqueBytes(),
                file.storedBytes(),
                file.containers(),
                file.meanUse(),
                file.sparseContainers(),
                file.sparseShare(),
                file.containerReads(),
                file.speedFactor(),
                file.requests(),
                file.diskBytes(),
                file.seconds(disk),
                file.bytesPerSecond(disk));
    }

    /** Returns the lines for people. */
    public String text() {
        if (bytes == 0) {
            return "  holds no data: nothing is read from the disk for it";
        }
        String different = ", compressed; " + ByteSize.rounded(uniqueBytes) + " of different chunks";
        return (line("data", ByteSize.rounded(bytes), " in " + chunks + (chunks == 1 ? " chunk" : " chunks"))
                        + line("stored", ByteSize.rounded(storedBytes), different)
                        + line("containers wanted", containers, "")
                        + line(
                                "mean use of them",
                                percent(meanUse),
                                ", " + percent(sparseShare) + " of them are used below 50 %")
                        + line("container reads", containerReads, "")
                        + line("speed factor", decimal("%.2f", speedFactor), " MiB for each container read")
                        + line(
                                "predicted restore",
                                decimal("%.1f", restoreBytesPerSecond / 1e6),
                                " MB/s: " + diskRequests + " disk requests for " + ByteSize.rounded(diskBytes) + ", "
                                        + decimal("%.2f", diskSeconds) + " s"))
                .stripTrailing();
    }

    private static String line(String name, Object value, String more) {
        return String.format(LINE, name, value, more);
    }

    private static String percent(double share) {
        return Math.round(100 * share) + " %";
    }

    private static String decimal(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
