package org.opendedup.sar.objects.lease;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

class LeaseRecordTest {
    /** As docs/FORMAT.md specifies it. */
    private static final String TEXT = "SAR-LEASE 2\nstate held\nepoch 3\nowner 00000000-0000-0001-0000-000000000002\n"
            + "machine host1\nprocess 4711\nsince 2026-11-30T04:00:00Z\nrenewed 2026-11-30T04:00:06.500Z\nrenewals 2\n"
            + "note log 3 00000000000000ab 17 4711\n";

    private static LeaseRecord decoded(String text) throws IOException {
        return LeaseRecord.decode(text.getBytes(US_ASCII), "place");
    }

    @Test
    void theBytesAreThoseOfTheFormat() throws IOException {
        assertEquals(TEXT, new String(LeaseFuzz.LEASE.encode(), US_ASCII));
        assertEquals(LeaseFuzz.LEASE, decoded(TEXT));
    }

    @Test
    void anotherVersionAndOtherBytesAreRefused() {
        assertThrows(UnsupportedFormatException.class, () -> decoded(TEXT.replace("LEASE 2", "LEASE 1")));
        assertThrows(CorruptionException.class, () -> decoded(""));
        for (String line : TEXT.split("\n")) {
            assertThrows(CorruptionException.class, () -> decoded(TEXT.replace(line + "\n", "")), line);
            assertThrows(CorruptionException.class, () -> decoded(TEXT.replace(line, line.split(" ")[0] + " ?")), line);
        }
    }
}
