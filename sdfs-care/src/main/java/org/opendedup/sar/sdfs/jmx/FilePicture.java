package org.opendedup.sar.sdfs.jmx;

import java.util.Objects;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.hot.FileExplanation;
import org.opendedup.sar.hot.FileExplanation.Verdict;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;

/**
 * A file as a picture: a grid of {@value #COLUMNS} equal parts of the file and {@value #ROWS} equal bands of the
 * containers that it wants, in the order in which these were stored. The grid has a fixed size, whatever the length of
 * the file. The operation {@code explain} of {@code type=Files} returns it; the names are stable.
 */
public record FilePicture(
        @Figure(value = "References to chunks", unit = "chunks")
        long chunks,

        @Figure(value = "Bytes of the file without holes and zero runs", unit = "bytes")
        long bytes,

        @Figure(value = "Bytes of these of which the SSD has copies", unit = "bytes")
        long ssdBytes,

        @Figure(value = "Different containers that the file wants", unit = "containers")
        long containers,

        @Figure(value = "Containers of these of which the file uses less than half", unit = "containers")
        long sparseContainers,

        @Figure(value = "Container reads of a sequential read", unit = "containers")
        long containerReads,

        @Figure(value = "Disk requests of a sequential read without an SSD", unit = "requests")
        long diskRequests,

        @Figure(value = "Disk requests of a sequential read with the copies on the SSD", unit = "requests")
        long diskRequestsWithSsd,

        @Figure(value = "Predicted speed from a 7200 rpm disk, in millions of bytes", unit = "MB per second")
        double diskMbPerSecond,

        @Figure(value = "Predicted speed with the copies on the SSD, in millions of bytes", unit = "MB per second")
        double withSsdMbPerSecond,

        @Figure(value = "Bytes of the file in a column of the grid", unit = "bytes")
        long columnBytes,

        @Figure(value = "First container of the lowest row", unit = "container id")
        long firstContainer,

        @Figure(value = "Container ids in a row of the grid", unit = "container ids")
        long rowContainers,

        @Figure(value = "Bytes of the file in each cell: row after row, from the lowest", unit = "bytes")
        long[] cells,

        @Figure(value = "Bytes of these of which the SSD has copies", unit = "bytes")
        long[] ssdCells) {
    public static final int COLUMNS = 96;
    public static final int ROWS = 40;

    /** First walk: how long the file is, and which containers it wants. */
    public static final class Bounds implements FileExplanation.ChunkVisitor {
        private long end;
        private long first = Long.MAX_VALUE;
        private long last;

        @Override
        public boolean accept(FileExplanation.Chunk reference) {
            long container = ChunkId.container(reference.chunk().getChunkId());
            end = Math.max(end, reference.fileOffset() + reference.chunk().getLength());
            first = Math.min(first, container);
            last = Math.max(last, container);
            return true;
        }

        /** Returns the grid for the second walk. */
        public Grid grid() {
            boolean isEmpty = end == 0;
            return new Grid(
                    Math.max(1, (end + COLUMNS - 1) / COLUMNS),
                    isEmpty ? 0 : first,
                    isEmpty ? 1 : Math.max(1, (last - first + ROWS) / ROWS));
        }
    }

    /** Second walk: fills the cells. */
    public static final class Grid implements FileExplanation.ChunkVisitor {
        private final long columnBytes;
        private final long firstContainer;
        private final long rowContainers;
        private final long[] cells = new long[COLUMNS * ROWS];
        private final long[] ssdCells = new long[COLUMNS * ROWS];

        private Grid(long columnBytes, long firstContainer, long rowContainers) {
            this.columnBytes = columnBytes;
            this.firstContainer = firstContainer;
            this.rowContainers = rowContainers;
        }

        @Override
        public boolean accept(FileExplanation.Chunk reference) {
            long container = ChunkId.container(reference.chunk().getChunkId());
            // The file may have changed since the first walk.
            int row = bounded((container - firstContainer) / rowContainers, ROWS);
            long end = reference.fileOffset() + reference.chunk().getLength();
            for (long at = reference.fileOffset(); at < end; ) {
                int column = bounded(at / columnBytes, COLUMNS);
                long next = Math.min(end, column == COLUMNS - 1 ? end : (column + 1) * columnBytes);
                cells[row * COLUMNS + column] += next - at;
                if (reference.verdict() == Verdict.ON_SSD) {
                    ssdCells[row * COLUMNS + column] += next - at;
                }
                at = next;
            }
            return true;
        }

        private static int bounded(long value, int end) {
            return (int) Math.max(0, Math.min(value, end - 1));
        }

        /** Returns the picture. */
        public FilePicture picture(FileExplanation explained, FileFragmentation fragmentation) {
            return new FilePicture(
                    explained.chunks(),
                    explained.bytes(),
                    Objects.requireNonNull(explained.verdicts().get(Verdict.ON_SSD))
                            .bytes(),
                    fragmentation.containers(),
                    fragmentation.sparseContainers(),
                    fragmentation.containerReads(),
                    explained.fromDisk().requests(),
                    explained.withSsd().requests(),
                    speed(explained.bytes(), explained.fromDisk().seconds()),
                    speed(explained.bytes(), explained.withSsdSeconds()),
                    columnBytes,
                    firstContainer,
                    rowContainers,
                    cells,
                    ssdCells);
        }

        private static double speed(long bytes, double seconds) {
            return seconds == 0 ? 0 : bytes / seconds / 1e6;
        }
    }

    /** The disk by which a speed is predicted. */
    public static final DiskModel DISK = DiskModel.HDD;
}
