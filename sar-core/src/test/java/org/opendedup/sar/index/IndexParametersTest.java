package org.opendedup.sar.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IndexParametersTest {
    @Test
    void theTextIsReadBack() {
        IndexParameters parameters = IndexParameters.parse(" cache=16, SEGMENT=512KiB,block=64MB ");
        assertEquals("segment=512KB,block=64MB,cache=16", parameters.toString());
        assertEquals(parameters, IndexParameters.parse(parameters.toString()));
        assertEquals(512 << 10, parameters.get(IndexParameter.SEGMENT, 1));
        assertEquals(24, parameters.get(IndexParameter.WIDTH, 24));
        assertTrue(parameters.has(IndexParameter.BLOCK));
        assertFalse(parameters.has(IndexParameter.SAMPLING));
        assertEquals("", IndexParameters.NONE.toString());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            depth=1            | 'depth' is no parameter of an index; use segment, block, cache, sampling, width
            cache              | 'cache' has no value; cache is 1 to 1024
            cache=0            | cache=0: cache is 1 to 1024
            cache=many         | cache=many: cache is 1 to 1024
            segment=1KB        | segment=1KB: segment is 64KB to 8MB
            block=2GB          | block=2GB: block is 1MB to 1GB
            sampling=3         | sampling=3: sampling is a power of two from 1 to 1024
            width=20           | width=20: width is 16, 24 or 32
            cache=1,cache=2    | cache is given twice
            """)
    void whatIsNotAllowedIsRefusedWithWhatIs(String text, String message) {
        assertEquals(
                message,
                assertThrows(IllegalArgumentException.class, () -> IndexParameters.parse(text))
                        .getMessage());
    }

    @Test
    void thoseOfAnotherClassAreRefused() {
        IndexParameters parameters = IndexParameters.parse("cache=16");
        parameters.checkAgainst(IndexClass.SILO);
        assertEquals(
                "cache is for an index of class silo, and that of this volume is of class rocksdb",
                assertThrows(IllegalArgumentException.class, () -> parameters.checkAgainst(IndexClass.ROCKSDB))
                        .getMessage());
    }
}
