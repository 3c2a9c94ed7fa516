package org.opendedup.sar.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;

class ByteSizeTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "77, 77",
        "77B, 77",
        "1KB, 1024",
        "256kb, 262144",
        "256K, 262144",
        "256KiB, 262144",
        "10GB, 10737418240",
        "2 TB, 2199023255552",
        "7EB, 8070450532247928832"
    })
    void readsSizesInBinaryUnits(String text, long bytes) {
        assertEquals(bytes, ByteSize.parse(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "GB", "-1GB", "1.5GB", "10XB", "10GBB", "1 0GB", "0x10", "10BB", "10iB"})
    void refusesWhatIsNoSizeAndSaysWhatIs(String text) {
        var e = assertThrows(IllegalArgumentException.class, () -> ByteSize.parse(text));
        assertTrue(e.getMessage().contains("'" + text + "'") && e.getMessage().contains("10GB"), e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"8EB", "9223372036854775808", "9999999999999999999GB"})
    void refusesWhatIsTooLarge(String text) {
        assertThrows(IllegalArgumentException.class, () -> ByteSize.parse(text));
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0B",
        "1500, 1500B",
        "1024, 1KB",
        "262144, 256KB",
        "10737418240, 10GB",
        "1099511627777, 1099511627777B"
    })
    void writesSizesExactly(long bytes, String text) {
        assertEquals(text, ByteSize.exact(bytes));
    }

    @Test
    void readsBackEveryExactSize() {
        long seed = TestSeed.next();
        var random = new Random(seed);
        for (int i = 0; i < 10_000; i++) {
            long bytes = random.nextLong() >>> (1 + random.nextInt(62)) << random.nextInt(20) & Long.MAX_VALUE;
            assertEquals(bytes, ByteSize.parse(ByteSize.exact(bytes)), "sar.seed=" + seed);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 B",
        "1023, 1023 B",
        "1024, 1.00 KiB",
        "1572864, 1.50 MiB",
        "851443712, 812 MiB",
        "1048575, 1.00 MiB",
        "9223372036854775807, 8.00 EiB"
    })
    void roundsForReading(long bytes, String text) {
        assertEquals(text, ByteSize.rounded(bytes));
    }
}
