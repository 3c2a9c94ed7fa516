package org.opendedup.sar.sdfs.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.sdfs.health.Facts;
import org.opendedup.sar.sdfs.jmx.ObjectStoreFigures;

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

    @Test
    void theLineOfAnObjectStoreSaysWhatIsNotThereAndWhatItCosts() {
        ObjectStoreFigures figures = ObjectStoreFigures.of(Facts.store(150_000, 30, "no answer"), 2_000_000_000);
        assertEquals(2000 * 0.005 / 1000 + 1000 * 0.0004 / 1000 + 0.09, figures.requestsCost(), 1e-9);
        assertEquals(2 * 0.023, figures.monthCost(), 1e-9);
        assertEquals(
                "s3://bucket/pool0, durability local: 3.00 MiB are not there yet, the oldest for 2 min, and it does not"
                        + " answer; mounts elsewhere that read it: 2; requests since mounting cost 0.10, a month of what is stored 0.05",
                StatusText.objectStore(StatusReport.ObjectStore.of(figures)));
        assertEquals(
                "file:///srv/store, durability remote: it has everything",
                StatusText.objectStore(
                        new StatusReport.ObjectStore("file:///srv/store", "remote", 0, 0, "closed", "", 0, 0, 0, 0)));
        assertEquals(
                "s3://bucket/pool0, read as it was 2 h ago",
                StatusText.objectStore(
                        StatusReport.ObjectStore.of(ObjectStoreFigures.of(Facts.reading(false), 1_000_000))));
    }
}
