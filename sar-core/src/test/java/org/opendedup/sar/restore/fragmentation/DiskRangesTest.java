package org.opendedup.sar.restore.fragmentation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Ranges of packs, with gaps of up to 100 bytes in a request. */
class DiskRangesTest {
    private final DiskRanges ranges = new DiskRanges(100);

    @Test
    void rangesWithASmallGapAreOneRequestInWhateverOrderTheyCome() {
        ranges.add(1, 600, 700, 0);
        ranges.add(1, 400, 500, 0);
        ranges.add(1, 500, 510, 0);
        assertCounted(1, 300);
    }

    @Test
    void aLargerGapIsASeek() {
        ranges.add(1, 0, 100, 0);
        ranges.add(1, 201, 300, 0);
        assertCounted(2, 199);
    }

    @Test
    void theSamePlacesOfTwoPacksAreTwoRequests() {
        ranges.add(1, 0, 100, 0);
        ranges.add(2, 100, 200, 0);
        assertCounted(2, 200);
    }

    @Test
    void eachBatchVisitsThePacksAnew() {
        for (int batch = 0; batch < 3; batch++) {
            ranges.add(1, batch * 100L, batch * 100L + 100, batch);
            ranges.add(2, batch * 100L, batch * 100L + 100, batch);
        }
        assertCounted(6, 600);
        // The control: one batch wants all of it.
        for (int i = 0; i < 3; i++) {
            ranges.add(1, i * 100L, i * 100L + 100, 3);
            ranges.add(2, i * 100L, i * 100L + 100, 3);
        }
        assertCounted(8, 1200);
    }

    @Test
    void aBatchThatBeginsWhereTheLastOneEndedDoesNotSeek() {
        ranges.add(1, 0, 100, 0);
        ranges.add(1, 110, 200, 1);
        assertCounted(1, 200);
    }

    @Test
    void whatIsReadAgainIsARequestEachTime() {
        for (int batch = 0; batch < 3; batch++) {
            ranges.add(1, 100, 200, batch);
            ranges.add(1, 200, 300, batch);
            ranges.add(1, 0, 100, batch);
        }
        assertCounted(3, 900);
    }

    @Test
    void aRangeWithinAnotherCostsNothing() {
        ranges.add(1, 0, 100, 0);
        ranges.add(1, 20, 50, 0);
        ranges.add(1, 110, 120, 0);
        assertCounted(1, 120);
    }

    @Test
    void ofMoreRangesThanAreKeptTheLaterOnesAreReadAfterwards() {
        for (int i = 0; i < DiskRanges.MAX_RANGES; i++) {
            ranges.add(1, i * 10L, i * 10L + 10, 0);
        }
        ranges.add(1, 5, 7, 0);
        assertCounted(1, DiskRanges.MAX_RANGES * 10L);
        ranges.add(1, 0, 10, 1);
        assertCounted(2, (DiskRanges.MAX_RANGES + 1) * 10L);
    }

    private void assertCounted(long requests, long bytes) {
        ranges.count();
        assertEquals(requests, ranges.requests());
        assertEquals(bytes, ranges.bytes());
    }
}
