package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FileRangeTest {
    @Test
    void endsAfterItsLastByte() {
        assertEquals(12, new FileRange(5, 7).end());
        assertEquals(Long.MAX_VALUE, new FileRange(1, Long.MAX_VALUE - 1).end());
    }

    @ParameterizedTest
    @CsvSource({"-1, 5", "0, 0", "0, -1", "2, 9223372036854775806"})
    void whatNoFileHasIsRefused(long offset, long length) {
        assertThrows(IllegalArgumentException.class, () -> new FileRange(offset, length));
    }
}
