package org.opendedup.sar.sdfs.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.disk.DiskStatus;

final class ReadersReportTest {
    @Test
    void theFirstLineSaysWhatTheDiskIsTakenFor() {
        var report = ReadersReport.of(List.of(), new DiskStatus(DiskModel.HDD, 1, 1, 2, 3));
        assertEquals(
                List.of(
                        "disk (assumed): skip 5.20 ms, seek 13.10 ms, 150 MB/s; gaps up to 762 KiB are read;"
                                + " 1 at once, 2 waiting, 3 in the background",
                        "No sequential readers."),
                report.text().lines().toList());
    }
}
