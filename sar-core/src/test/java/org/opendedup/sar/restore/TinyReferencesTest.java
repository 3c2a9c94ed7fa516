package org.opendedup.sar.restore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.restore.frame.FrameCache;
import org.opendedup.sar.restore.lookahead.StreamStatus;

/**
 * Files whose recipes refer to small pieces of many chunks, as any user can make with copy_file_range or by punching
 * holes: reading them ahead takes no more memory than reading other files.
 */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class TinyReferencesTest {
    private static final int BUDGET = 16 << 20;
    private static final int REQUEST = 128 << 10;
    /** The permitted excess over the budget: a fifth. */
    private static final double TOLERANCE = 1.2;

    @TempDir
    Path folder;

    private final long seed = TestSeed.next();
    private final Random random = new Random(seed);

    /** Reads a file of the first bytes of chunks in sequence. Returns the highest memory use. */
    private long mostMemory(HotVolume volume) throws Exception {
        return mostMemory(volume, 1 << 20);
    }

    private long mostMemory(HotVolume volume, long frameCacheBytes) throws Exception {
        volume.attached = null;
        volume.promotions.active = false;
        RestoreEngine engine = volume.engine(new FrameCache(frameCacheBytes), false, HotVolume.budget(BUDGET));
        byte[] expected = volume.expected();
        long reported = 0;
        try (ReadStream stream = engine.stream(HotVolume.INODE)) {
            for (int at = 0; at < expected.length; at += REQUEST) {
                int length = Math.min(REQUEST, expected.length - at);
                boolean continues = stream.note(at, length, expected.length);
                ByteBuffer target = ByteBuffer.allocate(length);
                stream.read(at, length, continues, target);
                assertArrayEquals(Arrays.copyOfRange(expected, at, at + length), target.array());
                reported = Math.max(
                        reported,
                        engine.readers().stream()
                                .mapToLong(StreamStatus::heldBytes)
                                .sum());
            }
        }
        long most = engine.memory().mostBytes();
        while (engine.memory().bytes() > 0) {
            Thread.sleep(1);
        }
        assertTrue(reported > 0, "control: nothing was read ahead");
        return most;
    }

    private static void assertWithin(long bytes) {
        assertTrue(bytes <= TOLERANCE * BUDGET, bytes + " bytes of " + BUDGET);
    }

    /** Each piece is from another chunk, in random order. */
    private int[] pieces(int chunks, int rounds) {
        int[] order = new int[chunks * rounds];
        for (int i = 0; i < order.length; i++) {
            order[i] = i % chunks;
        }
        for (int i = order.length - 1; i > 0; i--) {
            int other = random.nextInt(i + 1);
            int swapped = order[i];
            order[i] = order[other];
            order[other] = swapped;
        }
        return order;
    }

    private static void makePieces(HotVolume volume, int bytes, int... order) throws IOException {
        int[] lengths = new int[order.length];
        Arrays.fill(lengths, bytes);
        volume.makePieces(order, lengths);
    }

    @Test
    void smallPiecesOfLargeChunks() throws Exception {
        int chunks = 1200;
        try (HotVolume volume = new HotVolume(folder, seed, chunks, 20_000, 64_000)) {
            makePieces(volume, 64, pieces(chunks, 8));
            assertWithin(mostMemory(volume));
        }
    }

    @Test
    void piecesOfOneByte() throws Exception {
        int chunks = 1200;
        try (HotVolume volume = new HotVolume(folder, seed, chunks, 4000, 40_000)) {
            makePieces(volume, 1, pieces(chunks, 300));
            // Otherwise the reader's own requests take minutes.
            assertWithin(mostMemory(volume, 64 << 20));
        }
    }

    @Test
    void wholeChunksOfAFewBytes() throws Exception {
        int chunks = 60_000;
        try (HotVolume volume = new HotVolume(folder, seed, chunks, 64, 65)) {
            makePieces(volume, 64, pieces(chunks, 4));
            assertWithin(mostMemory(volume));
        }
    }

    /** The ratio learned from usual references must not be used for the small ones after them. */
    @Test
    void smallPiecesBehindWholeChunks() throws Exception {
        int chunks = 1200;
        try (HotVolume volume = new HotVolume(folder, seed, chunks, 30_000, 60_000)) {
            int whole = 800;
            int[] small = pieces(chunks, 8);
            int[] order = IntStream.concat(IntStream.range(0, whole), Arrays.stream(small))
                    .toArray();
            int[] lengths = new int[order.length];
            Arrays.fill(lengths, 0, whole, Integer.MAX_VALUE);
            Arrays.fill(lengths, whole, lengths.length, 64);
            volume.makePieces(order, lengths);
            assertWithin(mostMemory(volume));
        }
    }

    @Test
    void holesBetweenSmallPieces() throws Exception {
        int chunks = 1200;
        try (HotVolume volume = new HotVolume(folder, seed, chunks, 20_000, 64_000)) {
            int[] order = pieces(chunks, 8);
            int[] withHoles = IntStream.range(0, 2 * order.length)
                    .map(i -> i % 2 == 0 ? order[i / 2] : -1)
                    .toArray();
            makePieces(volume, 64, withHoles);
            assertWithin(mostMemory(volume));
        }
    }
}
