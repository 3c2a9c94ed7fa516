package org.opendedup.sar.sdfs.jmx;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.HashChunk;
import org.opendedup.sar.hot.FileExplanation;
import org.opendedup.sar.hot.FileExplanation.DiskWork;
import org.opendedup.sar.hot.FileExplanation.Share;
import org.opendedup.sar.hot.FileExplanation.SsdWork;
import org.opendedup.sar.hot.FileExplanation.Verdict;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;

class FilePictureTest {
    private static FileExplanation.Chunk chunk(long offset, int length, long container, Verdict verdict) {
        return new FileExplanation.Chunk(
                offset, new HashChunk(ChunkId.of(container, 1), 7, length, 1), length, verdict);
    }

    private static FilePicture of(List<FileExplanation.Chunk> chunks) {
        var bounds = new FilePicture.Bounds();
        chunks.forEach(bounds::accept);
        FilePicture.Grid grid = bounds.grid();
        chunks.forEach(grid::accept);
        Map<Verdict, Share> verdicts = new EnumMap<>(Verdict.class);
        verdicts.put(Verdict.ON_SSD, new Share(1, 100));
        var explained = new FileExplanation(
                chunks.size(),
                1000,
                verdicts,
                new DiskWork(2, 1000),
                new DiskWork(1, 900),
                new SsdWork(1, 1, 100),
                0.5);
        return grid.picture(explained, new FileFragmentation(1000, 2, 1000, 900, 2, 0.5, 1, 2, 2, 1000));
    }

    @Test
    void eachByteIsInTheCellOfItsColumnAndItsContainer() {
        // Two columns and a half of one container, and the rest of another, far away.
        FilePicture picture = of(List.of(
                chunk(0, 250, 10, Verdict.ON_SSD),
                chunk(250, FilePicture.COLUMNS * 100 - 250, 10 + 2 * FilePicture.ROWS - 1, Verdict.LONG_RUN)));
        assertEquals(100, picture.columnBytes());
        assertEquals(10, picture.firstContainer());
        assertEquals(2, picture.rowContainers());
        assertEquals(100, picture.cells()[0]);
        assertEquals(100, picture.cells()[1]);
        assertEquals(50, picture.cells()[2]);
        assertEquals(50, picture.ssdCells()[2]);
        int top = (FilePicture.ROWS - 1) * FilePicture.COLUMNS;
        assertEquals(50, picture.cells()[top + 2]);
        assertEquals(100, picture.cells()[top + FilePicture.COLUMNS - 1]);
        assertEquals(FilePicture.COLUMNS * 100L, LongStream.of(picture.cells()).sum());
        assertEquals(250, LongStream.of(picture.ssdCells()).sum());
        assertEquals(2, picture.containers());
        assertEquals(0.002, picture.withSsdMbPerSecond());
    }

    @Test
    void aFileWithoutDataAndOneThatGrewHaveAPicture() {
        assertEquals(0, LongStream.of(of(List.of()).cells()).sum());
        var bounds = new FilePicture.Bounds();
        bounds.accept(chunk(0, 96, 5, Verdict.LONG_RUN));
        FilePicture.Grid grid = bounds.grid();
        grid.accept(chunk(1000, 10, 500, Verdict.LONG_RUN));
        grid.accept(chunk(0, 10, 1, Verdict.LONG_RUN));
    }
}
