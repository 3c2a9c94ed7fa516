package org.opendedup.sar.restore.frame;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.carrotsearch.hppc.LongLongHashMap;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.restore.frame.LongVisits.Range;
import org.opendedup.sar.restore.frame.LongVisits.Visit;

class LongVisitsTest {
    private static final int STORED = 2 << 20;
    private static final int RAW = 4 << 20;

    private final Map<Long, StoredContainer> table = new HashMap<>();
    private final LongVisits visits = new LongVisits(table::get);
    private final LongLongHashMap wanted = new LongLongHashMap();

    /** Adds containers one after another to a pack, each wanted whole. */
    private void pack(long pack, long first, int count) {
        for (int i = 0; i < count; i++) {
            StoredContainer.State state = StoredContainer.State.SEALED;
            table.put(
                    first + i,
                    new StoredContainer(new Writing(0, 0), state, pack, 4096 + (long) i * STORED, STORED, 400, RAW));
            wanted.put(first + i, RAW);
        }
    }

    private static Range container(long pack, int index) {
        return new Range(pack, 4096 + (long) index * STORED, 4096 + (index + 1L) * STORED);
    }

    private static Visit fromDisk(Range last) {
        return new Visit(last, true);
    }

    @Test
    void eachVisitIsLongerByWhatLaterTurnsWantBehindIt() throws IOException {
        pack(1, 10, 20);
        pack(2, 40, 3);
        wanted.remove(10);
        wanted.remove(40);
        List<List<Range>> more = visits.lengthen(List.of(fromDisk(container(1, 0)), fromDisk(container(2, 0))), wanted);
        assertEquals(
                List.of(1, 2, 3, 4, 5, 6, 7, 8).stream()
                        .map(i -> container(1, i))
                        .toList(),
                more.get(0));
        assertEquals(List.of(container(2, 1), container(2, 2)), more.get(1));
        assertTrue(visits.hasAsked(18) && visits.hasAsked(42));
        assertFalse(visits.hasAsked(10) || visits.hasAsked(19), "what the turn itself reads, and what is too far");
    }

    @Test
    void theRestOfAContainerThatIsReadInPartIsAskedFor() throws IOException {
        pack(1, 10, 2);
        Range half = new Range(1, 4096, 4096 + STORED / 2);
        wanted.put(10, RAW / 2);
        assertEquals(
                List.of(List.of(new Range(1, half.to(), 4096 + STORED), container(1, 1))),
                visits.lengthen(List.of(fromDisk(half)), wanted));
    }

    @Test
    void aContainerOfWhichLittleIsWantedEndsAVisit() throws IOException {
        pack(1, 10, 4);
        wanted.put(12, RAW / 2);
        assertEquals(List.of(List.of(container(1, 1))), visits.lengthen(List.of(fromDisk(container(1, 0))), wanted));
    }

    @Test
    void theKernelIsAskedOnce() throws IOException {
        pack(1, 10, 3);
        visits.lengthen(List.of(fromDisk(container(1, 0))), wanted);
        assertEquals(List.of(List.of()), visits.lengthen(List.of(fromDisk(container(1, 0))), wanted));
    }

    @Test
    void whereTheKernelHasWhatATurnReadsItIsAskedOnlyForMuch() throws IOException {
        pack(1, 10, 20);
        visits.lengthen(List.of(fromDisk(container(1, 0))), wanted);
        assertEquals(
                List.of(List.of()),
                visits.lengthen(List.of(new Visit(container(1, 3), false)), wanted),
                "three quarters of a visit are there still");
        assertEquals(
                List.of(List.of(container(1, 9), container(1, 10), container(1, 11), container(1, 12))),
                visits.lengthen(List.of(new Visit(container(1, 4), false)), wanted));
        assertEquals(
                List.of(List.of(container(1, 13))),
                visits.lengthen(List.of(fromDisk(container(1, 5))), wanted),
                "a turn that goes there in any case");
    }

    @Test
    void theNumberOfRememberedContainersHasABound() throws IOException {
        for (int pack = 0; pack < 600; pack++) {
            pack(pack, 10 * pack, 9);
            visits.lengthen(List.of(fromDisk(container(pack, 0))), wanted);
            wanted.clear();
        }
        assertFalse(visits.hasAsked(1), "the first of 4800");
        assertTrue(visits.hasAsked(5991), "the last");
    }

    @Test
    void anOpenContainerIsLeftOut() throws IOException {
        pack(1, 10, 2);
        StoredContainer sealed = table.get(11L);
        table.put(
                11L,
                new StoredContainer(
                        sealed.writing(), StoredContainer.State.OPEN, 1, sealed.offset(), STORED, 400, RAW));
        assertEquals(List.of(List.of()), visits.lengthen(List.of(fromDisk(container(1, 0))), wanted));
    }
}
