package org.opendedup.sar.container.format;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/** Names, header and alignment of packs. */
final class PackFormatTest {
    private static final int HEADER_BYTES = 20;

    private static byte[] header(long pack) {
        Bytes header = PackFormat.header(pack);
        return Arrays.copyOf(header.array(), header.length());
    }

    @Test
    void fileNamesLeadBackToTheirPacks() {
        for (long number : new long[] {1, 0xf0a, 0xffff, 0x10000, 0x1234567890L, ChunkId.MAX_CONTAINER}) {
            assertEquals(OptionalLong.of(number), PackFormat.numberOf(PackFormat.fileName(number)));
        }
        assertEquals("0000000f/0000000f0a00.pack", PackFormat.fileName(0xf0a00));
        for (String other : new String[] {
            "",
            "x.pack",
            "00000000/000000000000.pack",
            "00000001/000000000f0a.pack",
            "00000000/00000000zz0a.pack",
            "00000000/000000000F0A.pack",
            "00000000/-00000000001.pack",
            "00000000/+00000000001.pack",
            "00000000x000000000f0a.pack",
            "00000000/000000000f0a.open",
            "80000000/800000000000.pack"
        }) {
            assertEquals(OptionalLong.empty(), PackFormat.numberOf(other), other);
        }
    }

    /** Otherwise the highest pack could not be found from a name on. */
    @Test
    void namesAreInTheOrderOfTheNumbers() {
        String last = PackFormat.fileName(1);
        for (long number = 2; number < ChunkId.MAX_CONTAINER; number += 1 + number / 3) {
            String name = PackFormat.fileName(number);
            assertTrue(last.compareTo(name) < 0, name);
            last = name;
        }
    }

    @Test
    void aHeaderIsAcceptedForItsNumberOnly() {
        assertEquals(PackFormat.FIRST_CONTAINER, header(77).length);
        assertDoesNotThrow(() -> PackFormat.checkHeader(header(77), 77));
        assertThrows(CorruptionException.class, () -> PackFormat.checkHeader(header(77), 78));
    }

    @Test
    void eachFlippedBitOfAHeaderIsNoticed() {
        for (int bit = 0; bit < HEADER_BYTES * 8; bit++) {
            byte[] damaged = header(77);
            damaged[bit / 8] ^= (byte) (1 << bit % 8);
            assertThrows(CorruptionException.class, () -> PackFormat.checkHeader(damaged, 77), "bit " + bit);
        }
    }

    @Test
    void anUnknownVersionIsRefusedByName() {
        byte[] newer = header(77);
        newer[4] = 9;
        Bytes crc = new Bytes(Integer.BYTES);
        crc.putInt(Bytes.crc(newer, 0, HEADER_BYTES - Integer.BYTES));
        System.arraycopy(crc.array(), 0, newer, HEADER_BYTES - Integer.BYTES, Integer.BYTES);
        UnsupportedFormatException refused =
                assertThrows(UnsupportedFormatException.class, () -> PackFormat.checkHeader(newer, 77));
        assertTrue(refused.getMessage().contains(PackFormat.fileName(77)), refused.getMessage());
    }

    @Test
    void containersBeginAtMultiplesOfTheAlignment() {
        assertEquals(0, PackFormat.align(0));
        assertEquals(4096, PackFormat.align(1));
        assertEquals(4096, PackFormat.align(4096));
        assertEquals(8192, PackFormat.align(4097));
        assertEquals(PackFormat.FIRST_CONTAINER, PackFormat.align(HEADER_BYTES));
    }
}
