package org.opendedup.sar.index.silo;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.index.TestSegments;

class BlockFormatTest {
    private static final long INDEX = 0x0123456789abcdefL;

    private static Block block(int segments, int chunks) {
        Block block = new Block(5);
        for (int segment = 0; segment < segments; segment++) {
            for (int chunk = 0; chunk < chunks; chunk++) {
                int number = segment * chunks + chunk;
                block.add(TestSegments.fingerprint(number), 0, ChunkId.of(9, number), number % 3 > 0, 4096);
            }
            block.endSegment();
        }
        return block;
    }

    private static byte[] encoded(Block block) {
        byte[] bytes = new byte[BlockFormat.encode(block, INDEX).limit()];
        BlockFormat.encode(block, INDEX).get(bytes);
        return bytes;
    }

    /** The bytes of docs/FORMAT.md: a change of them needs a new format number. */
    @Test
    void theBytesAreThoseOfTheFormat() {
        Block block = new Block(5);
        byte[] first = new byte[32];
        Arrays.fill(first, (byte) 0x11);
        byte[] second = new byte[32];
        Arrays.fill(second, (byte) 0x22);
        block.add(first, 0, ChunkId.of(1, 2), true, 4096);
        block.endSegment();
        block.add(second, 0, ChunkId.of(3, 4), false, 1000);
        block.endSegment();
        String golden = "534152424c4f434b" + "01000000" + "05000000" + "efcdab8967452301" + "02000000" + "02000000"
                + "e813000000000000" + "CRC-BODY" + "CRC-HEAD" + "01000000" + "02000000" + "11".repeat(32)
                + "0200010000000080" + "22".repeat(32) + "0400030000000000";
        String found = HexFormat.of().formatHex(encoded(block));
        assertEquals(golden.replace("CRC-BODY", BODY_CRC).replace("CRC-HEAD", HEADER_CRC), found);
    }

    private static final String BODY_CRC = "31d3ae2c";
    private static final String HEADER_CRC = "7c4e72ad";

    @Test
    void aBlockIsReadAsItWasWritten() throws CorruptionException {
        Block block = block(20, 100);
        Block read = BlockFormat.decode(encoded(block), INDEX, 5, "test");
        assertEquals(2000, read.count());
        assertEquals(20, read.segments());
        assertEquals(2000 * 4096, read.dataBytes());
        for (int entry = 0; entry < read.count(); entry++) {
            assertEquals(ChunkId.of(9, entry), read.chunkId(entry));
            assertEquals(entry % 3 > 0, read.isFresh(entry));
            assertEquals(entry, read.find(TestSegments.fingerprint(entry), 0));
        }
        for (int segment = 0; segment < 20; segment++) {
            assertEquals(block.segmentEnd(segment), read.segmentEnd(segment));
            assertEquals(block.representative(segment), read.representative(segment));
        }
        assertArrayEquals(encoded(block), encoded(read));
    }

    @Test
    void anEmptyBlockIsOne() throws CorruptionException {
        byte[] bytes = encoded(new Block(5));
        assertTrue(BlockFormat.isPossible(bytes.length));
        assertEquals(0, BlockFormat.decode(bytes, INDEX, 5, "test").count());
        assertFalse(BlockFormat.isPossible(bytes.length - 1));
    }

    @Test
    void everyFlippedBitAndEveryOtherLengthIsNoticed() throws CorruptionException {
        byte[] bytes = encoded(block(3, 4));
        for (int bit = 0; bit < bytes.length * 8; bit++) {
            byte[] flipped = bytes.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);
            assertThrows(CorruptionException.class, () -> BlockFormat.decode(flipped, INDEX, 5, "test"), "bit " + bit);
        }
        for (int length = 0; length < bytes.length + 50; length++) {
            byte[] torn = Arrays.copyOf(bytes, length);
            if (length != bytes.length) {
                assertThrows(
                        CorruptionException.class, () -> BlockFormat.decode(torn, INDEX, 5, "test"), length + " bytes");
            }
        }
        assertEquals(12, BlockFormat.decode(bytes, INDEX, 5, "the control").count());
    }

    @Test
    void aBlockOfAnotherIndexOrNumberIsRefused() {
        byte[] bytes = encoded(block(1, 4));
        assertThrows(CorruptionException.class, () -> BlockFormat.decode(bytes, INDEX + 1, 5, "test"));
        assertThrows(CorruptionException.class, () -> BlockFormat.decode(bytes, INDEX, 6, "test"));
    }
}
