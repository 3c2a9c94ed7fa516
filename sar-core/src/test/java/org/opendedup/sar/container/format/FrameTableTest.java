package org.opendedup.sar.container.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.common.Writing;

/** Frame tables with removed frames: numbers, slots, offsets, and what is refused. */
final class FrameTableTest {
    private static final Writing WRITING = new Writing(77, 2);

    /** Frames 0, 2 and 5 are removed; slots 8 and 9, and 10 bytes, are missing. */
    private static FrameTable table() {
        FrameTable.Builder builder = new FrameTable.Builder(WRITING);
        builder.addRemoved(0, 3);
        builder.add(3, 2, ContainerFormat.HEADER_BYTES, 100, 400);
        builder.addRemoved(5, 3);
        builder.add(10, 1, 142, 50, 60);
        builder.add(11, 4, 192, 30, 20);
        builder.addRemoved(15, 5);
        return builder.build();
    }

    private static void check(FrameTable table) {
        assertEquals(6, table.frames());
        assertEquals(20, table.slots());
        boolean[] removed = {true, false, true, false, false, true};
        long[] offsets = {32, 32, 132, 142, 192, 222};
        for (int frame = 0; frame < 6; frame++) {
            assertEquals(removed[frame], table.isRemoved(frame), "frame " + frame);
            assertEquals(offsets[frame], table.fileOffset(frame), "frame " + frame);
        }
        int[] frames = {-1, -1, -1, 1, 1, -1, -1, -1, -1, -1, 3, 4, 4, 4, 4, -1, -1, -1, -1, -1, -1};
        for (int slot = 0; slot < frames.length; slot++) {
            assertEquals(frames[slot], table.frameOf(slot), "slot " + slot);
        }
        assertEquals(5, table.firstSlot(2));
        assertEquals(3, table.slotCount(2));
        assertEquals(0, table.rawLength(2));
    }

    @Test
    void removedFramesKeepNumberAndSlots() throws Exception {
        check(table());
        check(FrameTable.decode(table().encode(), 77, "a table"));
        check(FrameTable.decodeWithSalt(table().encodeWithSalt(), "a table"));
        assertArrayEquals(
                table().encode(), FrameTable.decode(table().encode(), 77, "").encode());
    }

    private static byte[] encoded(int version, int fileGap, int fileLength, int rawLength) {
        Bytes out = new Bytes(64);
        out.putByte(version);
        out.putVarint(2);
        out.putVarint(1);
        out.putVarint(0);
        out.putVarint(4);
        out.putVarint(fileGap);
        out.putVarint(fileLength);
        out.putVarint(rawLength);
        out.putCrc(0);
        return out.toArray();
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 0, true", "9, 100, 50, true", "0, 0, 50, false", "0, 100, 0, false", "9, 0, 0, false"})
    void aFrameHasBothLengthsOrNone(int fileGap, int fileLength, int rawLength, boolean valid) throws Exception {
        byte[] bytes = encoded(FrameTable.FORMER_VERSION, fileGap, fileLength, rawLength);
        if (valid) {
            assertEquals(fileLength == 0, FrameTable.decode(bytes, 1, "a table").isRemoved(0));
        } else {
            assertThrows(CorruptionException.class, () -> FrameTable.decode(bytes, 1, "a table"));
        }
    }

    @Test
    void aFrameWhoseChunksAreAllLostHasNoRawBytes() throws Exception {
        byte[] bytes = encoded(FrameTable.VERSION, 0, 100, 0);
        FrameTable table = FrameTable.decode(bytes, 1, "a table");
        assertFalse(table.isRemoved(0));
        assertEquals(0, table.rawLength(0));
        assertArrayEquals(bytes, table.encode());
    }

    @Test
    void theEarlierVersionIsRefused() {
        byte[] bytes = encoded(1, 0, 100, 50);
        UnsupportedFormatException refused =
                assertThrows(UnsupportedFormatException.class, () -> FrameTable.decode(bytes, 1, "a table"));
        assertTrue(refused.getMessage().contains("a table"), refused.getMessage());
    }
}
