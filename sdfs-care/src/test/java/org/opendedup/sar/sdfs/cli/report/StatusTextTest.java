package org.opendedup.sar.sdfs.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StatusTextTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "none   | 0    | none",
                "online | 0    | online, 1.00 MiB of 64.0 MiB used",
                "online | 2048 | online, 1.00 MiB by copies and 2.00 KiB by the index of 64.0 MiB used"
            })
    void theLineOfTheSsdSaysWhoUsesIt(String state, long indexBytes, String line) {
        assertEquals(line, StatusText.ssd(new StatusReport.Ssd(state, "", 1L << 20, 64L << 20, indexBytes, null)));
    }
}
