package org.opendedup.sar.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.check.Finding.Kind;
import org.opendedup.sar.check.Finding.Severity;

class WrongRangesTest {
    @Test
    void whatIsNotKeptIsCounted() {
        WrongRanges ranges = new WrongRanges();
        for (int i = 0; i < WrongRanges.MAX; i++) {
            ranges.add(0, 7, 10L * i, 10L * i + 5);
        }
        assertTrue(ranges.unlisted().isEmpty());
        ranges.add(1, 7, 0, 100);
        ranges.add(1, 8, 50, 57);
        ranges.add(0, 9, 0, 1);
        long[] kept = {0};
        ranges.forEach((finding, inode, from, to) -> kept[0]++);
        assertEquals(WrongRanges.MAX, kept[0]);
        assertEquals(Map.of(0, new WrongRanges.Unlisted(1, 1), 1, new WrongRanges.Unlisted(2, 107)), ranges.unlisted());
    }

    @Test
    void theFindingSaysSo() {
        FindingList findings = new FindingList(new Mend("pool0", false));
        int number = findings.add(Severity.LOSS, Kind.WRONG_REFERENCE, "chunk 1:2 is another");
        findings.unlisted(number, 3, 4096);
        List<Finding> found = findings.findings(Map.of());
        assertEquals(
                "chunk 1:2 is another; 3 more damaged ranges of files, with 4096 bytes, are not listed",
                found.get(0).what());
    }
}
