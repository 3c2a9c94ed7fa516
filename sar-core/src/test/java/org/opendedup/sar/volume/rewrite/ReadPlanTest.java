package org.opendedup.sar.volume.rewrite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.disk.DiskModel;

class ReadPlanTest {
    private static final int FRAME = 64 << 10;
    private static final int FRAMES = 64;
    /** Frames in the containers of one pack. */
    private static final int PACK = 16 * FRAMES;
    /** A disk on which a seek costs as much as reading a MiB. */
    private static final DiskModel DISK = DiskModel.configured(10.48576, 100_000_000);

    private final ReadPlan plan = new ReadPlan(DISK);

    /** Containers of frames with one chunk each that do not compress, one container after another. */
    private static LocatedTable at(int number) {
        FrameTable.Builder table = new FrameTable.Builder(Writing.UNKNOWN);
        for (int frame = 0; frame < FRAMES; frame++) {
            table.add(frame, 1, frame * FRAME, FRAME, FRAME);
        }
        long offset = (long) (number % PACK / FRAMES) * FRAMES * FRAME;
        return new LocatedTable(number / PACK, offset, table.build());
    }

    private static long chunk(int number) {
        return ChunkId.of(1 + number / FRAMES, number % FRAMES);
    }

    private void want(int number, boolean mayMove) {
        plan.want(chunk(number), at(number), FRAME, mayMove);
    }

    private void want(IntStream numbers) {
        numbers.forEach(number -> want(number, true));
    }

    private static List<Long> chunks(int... numbers) {
        return IntStream.of(numbers).mapToObj(ReadPlanTest::chunk).toList();
    }

    @Test
    void shortPiecesBetweenLongOnesMove() {
        want(IntStream.range(0, 200));
        want(IntStream.of(900, 500, 300));
        want(IntStream.range(600, 800));
        double before = plan.seconds();
        assertEquals(DISK.seconds(5, 403L * FRAME), before, 1e-9);
        // In the order of the file, not of the disk.
        assertEquals(chunks(900, 500, 300), plan.choose(Long.MAX_VALUE, 1.05));
        assertEquals(DISK.seconds(3, 403L * FRAME), plan.seconds(), 1e-9);
        List<Long> staying = new ArrayList<>();
        plan.forEachStaying(staying::add);
        assertEquals(400, staying.size());
    }

    @Test
    void piecesThatAreReadOverGapsMove() {
        // Each fourth frame: a reader reads four times what it wants.
        want(IntStream.range(0, 100).map(number -> 4 * number));
        assertEquals(DISK.seconds(1, 397L * FRAME), plan.seconds(), 1e-9);
        assertEquals(100, plan.choose(Long.MAX_VALUE, 2).size());
        assertEquals(DISK.seconds(1, 100L * FRAME), plan.seconds(), 1e-9);
    }

    @Test
    void whatLiesInOnePieceStays() {
        want(IntStream.range(0, 300));
        assertEquals(List.of(), plan.choose(Long.MAX_VALUE, 1));
    }

    @Test
    void nothingMovesIfTheGainIsTooSmall() {
        want(IntStream.range(0, 200));
        want(IntStream.of(900));
        double before = plan.seconds();
        assertEquals(List.of(), plan.choose(Long.MAX_VALUE, 1.1));
        assertEquals(before, plan.seconds());
        // The control: with one more of them it is.
        want(IntStream.range(0, 10).map(number -> 220 + 40 * number));
        assertTrue(plan.choose(Long.MAX_VALUE, 1.1).size() >= 10);
    }

    @Test
    void noMoreMovesThanIsAllowedAndWhatSavesMostComesFirst() {
        want(IntStream.range(0, 10));
        want(IntStream.range(100, 108));
        want(IntStream.of(200, 300));
        assertEquals(chunks(200, 300), plan.choose(3L * FRAME, 1));
    }

    @Test
    void whatANewerFileReadsWellStays() {
        want(IntStream.of(100, 300));
        want(500, false);
        want(700, true);
        assertEquals(chunks(100, 300, 700), plan.choose(Long.MAX_VALUE, 1));
    }

    @Test
    void aChunkThatOccursAgainMovesOnce() {
        want(IntStream.of(100, 300, 100, 500, 100));
        assertEquals(chunks(100, 300, 500), plan.choose(Long.MAX_VALUE, 1));
    }
}
