package org.opendedup.sar.chunk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.crypt.VolumeKeys;

class FastCdcChunkerTest {
    private static final int MIN = 2 << 10;
    private static final int AVERAGE = 8 << 10;
    private static final int MAX = 64 << 10;

    private final Chunker chunker = new FastCdcChunker(Gear.table());

    @Test
    void theGearTableIsFrozen() throws Exception {
        ByteBuffer bytes = ByteBuffer.allocate(256 * Long.BYTES);
        for (long gear : Gear.table()) {
            bytes.putLong(gear);
        }

        byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes.array());

        assertEquals(
                "481f854c9e57106353a2f7b994a849fc6ee05497d7212839e3d028c0f73ba0ee",
                HexFormat.of().formatHex(digest));
    }

    @Test
    void theBoundariesOfKnownDataAreFrozen() {
        int[] lengths = lengths(random(1, 128 << 10));

        assertArrayEquals(
                new int[] {11592, 8797, 8525, 11214, 9931, 8580, 18785, 5544, 19958, 6678, 8221, 7889, 5358},
                lengths,
                Arrays.toString(lengths));
    }

    @Test
    void twoBytesAStepCutAsOneByteAStepDoes() {
        byte[] data = random(2, 3 << 20);
        Arrays.fill(data, 500_000, 700_000, (byte) 7);
        for (int from = 0, length; from < data.length; from += length) {
            length = chunker.cut(data, from, data.length, true);
            assertEquals(oneByteAStep(data, from), length, "at " + from);
        }
    }

    /** The definition in the paper. */
    private static int oneByteAStep(byte[] data, int from) {
        long[] gear = Gear.table();
        int available = Math.min(MAX, data.length - from);
        long hash = 0;
        for (int i = MIN; i < available; i++) {
            hash = (hash << 1) + gear[data[from + i] & 0xff];
            int bits = i < AVERAGE ? 15 : 11;
            if ((hash << 1 >>> (Long.SIZE - bits)) == 0) {
                return i + 1;
            }
        }
        return available;
    }

    @Test
    void chunksOfRandomDataKeepToTheLimitsAndTheAverage() {
        byte[] data = random(3, 16 << 20);

        int[] lengths = lengths(data);

        int[] whole = Arrays.copyOf(lengths, lengths.length - 1);
        assertTrue(Arrays.stream(whole).allMatch(length -> length > MIN && length <= MAX));
        double average = Arrays.stream(whole).average().orElseThrow();
        assertTrue(average > 7_500 && average < 11_000, "average " + average);
        assertEquals(data.length, Arrays.stream(lengths).sum());
    }

    @Test
    void boundariesMeetAgainBehindAnInsertion() {
        byte[] data = random(4, 1 << 20);
        byte[] changed = new byte[data.length + 13];
        System.arraycopy(data, 0, changed, 0, 300_000);
        System.arraycopy(data, 300_000, changed, 300_013, data.length - 300_000);

        long known = ends(data).filter(end -> end > 340_000).count();
        int[] shifted = ends(changed).map(end -> end - 13).toArray();
        long met = ends(data)
                .filter(end -> end > 340_000 && Arrays.binarySearch(shifted, end) >= 0)
                .count();

        assertEquals(known, met);
    }

    @Test
    void anUnfinishedChunkAsksForMoreBytes() {
        byte[] data = random(5, 200_000);
        int length = chunker.cut(data, 0, data.length, false);

        for (int to = 1; to < length; to++) {
            assertEquals(0, chunker.cut(data, 0, to, false));
            assertEquals(to, chunker.cut(data, 0, to, true));
        }
        assertEquals(length, chunker.cut(data, 0, length + 1, false));
    }

    @Test
    void dataWithoutABoundaryIsCutAtTheMaximum() {
        byte[] data = new byte[3 * MAX];
        Arrays.fill(data, (byte) 1);

        assertEquals(MAX, chunker.cut(data, 0, data.length, false));
        assertEquals(MAX, chunker.cut(data, 5, 5 + MAX, false));
        assertEquals(0, chunker.cut(data, 5, 4 + MAX, false));
    }

    private int[] lengths(byte[] data) {
        int[] lengths = new int[data.length / MIN + 1];
        int count = 0;
        for (int from = 0; from < data.length; from += lengths[count - 1]) {
            lengths[count++] = chunker.cut(data, from, data.length, true);
        }
        return Arrays.copyOf(lengths, count);
    }

    private IntStream ends(byte[] data) {
        int[] ends = lengths(data);
        Arrays.parallelPrefix(ends, Integer::sum);
        return Arrays.stream(ends);
    }

    private static byte[] random(long seed, int length) {
        byte[] data = new byte[length];
        new Random(seed).nextBytes(data);
        return data;
    }

    /** Otherwise the lengths of chunks would tell which known content a volume has. */
    @Test
    void contentIsCutElsewhereWithAnotherKey() {
        byte[] content = new byte[4 << 20];
        new Random(5).nextBytes(content);
        Set<Integer> plain = boundaries(Chunkers.of(Chunking.VARIABLE_SHA256), content);
        Set<Integer> first = boundaries(Chunkers.of(Chunking.VARIABLE_SHA256, keys(1)), content);
        Set<Integer> second = boundaries(Chunkers.of(Chunking.VARIABLE_SHA256, keys(2)), content);
        assertEquals(first, boundaries(Chunkers.of(Chunking.VARIABLE_SHA256, keys(1)), content));
        assertTrue(first.size() > 300 && first.size() < 700, "chunks: " + first.size());
        for (Set<Integer> other : List.of(plain, second)) {
            Set<Integer> common = new HashSet<>(first);
            common.retainAll(other);
            assertTrue(common.size() < 5, common::toString);
        }
    }

    private static VolumeKeys keys(int number) {
        byte[] master = new byte[VolumeKeys.KEY_BYTES];
        master[0] = (byte) number;
        return new VolumeKeys(master, new UUID(1, 2), AeadCipher.AES_256_GCM);
    }

    private static Set<Integer> boundaries(Chunker chunker, byte[] content) {
        Set<Integer> boundaries = new HashSet<>();
        for (int at = 0; at < content.length; ) {
            at += chunker.cut(content, at, content.length, true);
            boundaries.add(at);
        }
        return boundaries;
    }
}
