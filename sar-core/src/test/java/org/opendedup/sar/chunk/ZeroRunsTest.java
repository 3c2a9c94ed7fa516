package org.opendedup.sar.chunk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ZeroRunsTest {
    @Test
    void aRunEndsAtTheFirstByteThatIsNotZeroWhereverItLies() {
        for (int from = 0; from < 9; from++) {
            for (int length = 0; length < 40; length++) {
                byte[] data = new byte[64];
                data[from + length] = (byte) 0x80;
                assertEquals(length, ZeroRuns.length(data, from, data.length));
            }
        }
    }

    @Test
    void aRunEndsAtTheLimit() {
        byte[] data = new byte[64];
        for (int to = 3; to <= 64; to++) {
            assertEquals(to - 3, ZeroRuns.length(data, 3, to));
        }
    }
}
