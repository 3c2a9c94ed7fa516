package org.opendedup.sar.ssd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

/** Copies in the order of the log, against a sorted map. */
final class LogCopiesTest {
    @Test
    void allCopiesComeOnceInTheOrderOfTheLog() {
        SplittableRandom random = new SplittableRandom(TestSeed.next());
        MapTable table = new MapTable();
        TreeMap<Long, MapEntry> expected = new TreeMap<>();
        for (long chunk = 1; chunk < 3L * LogCopies.MOST; chunk++) {
            MapEntry entry = new MapEntry();
            entry.chunkId = chunk;
            // Few enough segments that some places are next to others, and some beyond 2^15.
            entry.segment = random.nextInt(5) * 14_000;
            entry.offset = random.nextInt(1 << 24) * PackedEntry.ALIGNMENT;
            entry.length = 8 * (1 + random.nextInt(0xffff));
            if (expected.putIfAbsent((long) entry.segment << 32 | entry.offset, entry) == null) {
                table.put(entry);
            }
        }
        int rounds = 0;
        LogCopies copies = LogCopies.from(table, 0, 0);
        while (copies.count() > 0) {
            rounds++;
            assertTrue(copies.count() <= LogCopies.MOST);
            for (int i = 0; i < copies.count(); i++) {
                Map.Entry<Long, MapEntry> next = expected.pollFirstEntry();
                MapEntry entry = next.getValue();
                assertEquals(entry.segment, copies.segment(i));
                assertEquals(entry.offset, copies.offset(i));
                assertEquals(entry.chunkId, copies.chunkId(i));
                assertEquals(entry.length, copies.bytes(i));
            }
            int last = copies.count() - 1;
            copies = LogCopies.from(table, copies.segment(last), copies.offset(last) + 1L);
        }
        assertTrue(expected.isEmpty(), () -> expected.size() + " were left out");
        assertEquals(3, rounds);
    }
}
