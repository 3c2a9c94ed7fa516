package org.opendedup.sar.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class DiskModelTest {
    @Test
    void timeIsSeeksAndTransfer() {
        assertEquals(2 * 0.0131 + 1, DiskModel.DEFAULT.seconds(2, 150_000_000), 1e-9);
        assertEquals(0, DiskModel.DEFAULT.seconds(0, 0));
    }

    @Test
    void aGapIsReadAlongWhileThatIsCheaperThanASeek() {
        assertEquals(1_965_000, DiskModel.DEFAULT.seekBytes());
        assertEquals(0, new DiskModel(0, 1 << 30).seekBytes());
    }

    @Test
    void aDiskThatCannotBeIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new DiskModel(-1, 1));
        assertThrows(IllegalArgumentException.class, () -> new DiskModel(Double.NaN, 1));
        assertThrows(IllegalArgumentException.class, () -> new DiskModel(1, 0));
    }
}
