package org.opendedup.sar.chunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;

class SegmentCutterTest {
    /** A piece of the stream, as a reader of its recipe sees it. */
    private record Piece(long offset, long length, boolean zero) {}

    @ParameterizedTest
    @EnumSource(Chunking.class)
    void chunksAreTheSameHoweverTheStreamIsDivided(Chunking chunking) {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        for (int round = 0; round < 60; round++) {
            byte[] stream = streamWithZeroRuns(random);
            List<Piece> whole = joinedZeroRuns(cutInOne(chunking, stream));
            List<Piece> divided = joinedZeroRuns(cutDivided(chunking, stream, random));
            assertEquals(whole, divided, "seed " + seed + ", round " + round);
        }
    }

    @ParameterizedTest
    @EnumSource(Chunking.class)
    void piecesCoverTheStreamAndZeroMeansZero(Chunking chunking) {
        long seed = TestSeed.next();
        byte[] stream = streamWithZeroRuns(new Random(seed));

        long end = 0;
        for (Piece piece : cutInOne(chunking, stream)) {
            assertEquals(end, piece.offset(), "seed " + seed);
            end += piece.length();
            int zeros = ZeroRuns.length(stream, (int) piece.offset(), (int) end);
            assertTrue(!piece.zero() || zeros == piece.length(), "seed " + seed);
        }
        assertEquals(stream.length, end, "seed " + seed);
    }

    @Test
    void aZeroRunBetweenContentDefinedChunksIsOneZeroChunkOfItsWholeLength() {
        byte[] stream = new byte[400_000];
        Arrays.fill(stream, 300_001, stream.length, (byte) 1);

        List<Piece> pieces = cutInOne(Chunking.VARIABLE_SHA256, stream);

        assertEquals(new Piece(0, 300_001, true), pieces.get(0));
        assertEquals(new Piece(300_001, 65_536, false), pieces.get(1));
    }

    @Test
    void zeroRunsOfFixedChunksAreWholeChunks() {
        byte[] stream = new byte[5 * 4096 + 100];
        stream[2 * 4096 + 10] = 1;

        assertEquals(
                List.of(new Piece(0, 8192, true), new Piece(8192, 4096, false), new Piece(12288, 8292, true)),
                cutInOne(Chunking.SHA256, stream));
    }

    @Test
    void zerosThatContinueARunAreARunHoweverFew() {
        SegmentCutter cutter = new SegmentCutter(Chunkers.of(Chunking.VARIABLE_SHA256));
        Segment segment = new Segment(1 << 20);
        assertEquals(5000, cutter.cut(segment, 0, 5000, false));

        segment.clear();
        segment.data()[7] = 1;
        int consumed = cutter.cut(segment, 0, 5000, true);

        assertEquals(5000, consumed);
        assertEquals(7, segment.length(0));
        assertTrue(segment.isZero(0));
        assertTrue(!segment.isZero(1));
    }

    @Test
    void aCutterThatWasResetKnowsNoRunToContinue() {
        SegmentCutter cutter = new SegmentCutter(Chunkers.of(Chunking.VARIABLE_SHA256));
        Segment segment = new Segment(1 << 20);
        cutter.cut(segment, 0, 5000, false);
        cutter.reset();

        segment.clear();
        segment.data()[7] = 1;
        cutter.cut(segment, 0, 5000, true);

        assertTrue(!segment.isZero(0));
    }

    private static byte[] streamWithZeroRuns(Random random) {
        byte[] stream = new byte[random.nextInt(600_000)];
        random.nextBytes(stream);
        for (int run = random.nextInt(12); run > 0 && stream.length > 0; run--) {
            int from = random.nextInt(stream.length);
            int length = random.nextBoolean() ? random.nextInt(10_000) : random.nextInt(150_000);
            Arrays.fill(stream, from, Math.min(stream.length, from + length), (byte) 0);
        }
        return stream;
    }

    private static List<Piece> cutInOne(Chunking chunking, byte[] stream) {
        Segment segment = new Segment(stream.length);
        System.arraycopy(stream, 0, segment.data(), 0, stream.length);
        int consumed = new SegmentCutter(Chunkers.of(chunking)).cut(segment, 0, stream.length, true);
        assertEquals(stream.length, consumed);
        List<Piece> pieces = new ArrayList<>();
        collect(segment, 0, pieces);
        return pieces;
    }

    /** Like the ingest pipeline: unconsumed bytes become the beginning of the next segment. */
    private static List<Piece> cutDivided(Chunking chunking, byte[] stream, Random random) {
        SegmentCutter cutter = new SegmentCutter(Chunkers.of(chunking));
        Segment segment = new Segment(200_000);
        List<Piece> pieces = new ArrayList<>();
        int position = 0;
        int carried = 0;
        while (position < stream.length) {
            int more = 1 + random.nextInt(random.nextBoolean() ? 100 : 100_000);
            int bytes = Math.min(carried + more, stream.length - position);
            System.arraycopy(stream, position, segment.data(), 0, bytes);
            segment.clear();
            int consumed = cutter.cut(segment, 0, bytes, position + bytes == stream.length);
            collect(segment, position, pieces);
            position += consumed;
            carried = bytes - consumed;
            assertTrue(carried < 65_536, "carried " + carried);
        }
        return pieces;
    }

    private static void collect(Segment segment, long base, List<Piece> pieces) {
        for (int i = 0; i < segment.count(); i++) {
            pieces.add(new Piece(base + segment.offset(i), segment.length(i), segment.isZero(i)));
        }
    }

    private static List<Piece> joinedZeroRuns(List<Piece> pieces) {
        List<Piece> joined = new ArrayList<>();
        for (Piece piece : pieces) {
            Piece last = joined.isEmpty() ? null : joined.get(joined.size() - 1);
            if (last != null && last.zero() && piece.zero()) {
                joined.set(joined.size() - 1, new Piece(last.offset(), last.length() + piece.length(), true));
            } else {
                joined.add(piece);
            }
        }
        return joined;
    }
}
