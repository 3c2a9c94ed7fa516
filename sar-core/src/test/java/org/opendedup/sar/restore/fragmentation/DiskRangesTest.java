package org.opendedup.sar.restore.fragmentation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Ranges of packs, with gaps of up to 100 bytes in a request and a window of 1000 bytes of the file. */
class DiskRangesTest {
    private final DiskRanges ranges = new DiskRanges(100, 1000);

    @Test
    void rangesWithASmallGapAreOneRequestInWhateverOrderTheyCome() {
        ranges.add(1, 600, 700, 0, 10);
        ranges.add(1, 400, 500, 0, 10);
        ranges.add(1, 500, 510, 0, 10);
        assertCounted(1, 300);
    }

    @Test
    void aLargerGapIsASeek() {
        ranges.add(1, 0, 100, 0, 10);
        ranges.add(1, 201, 300, 0, 10);
        assertCounted(2, 199);
    }

    @Test
    void theSamePlacesOfTwoPacksAreTwoRequests() {
        ranges.add(1, 0, 100, 0, 10);
        ranges.add(2, 100, 200, 0, 10);
        assertCounted(2, 200);
    }

    @Test
    void rangesWantedFartherApartThanTheWindowAreTwoRequests() {
        ranges.add(1, 0, 100, 0, 10);
        ranges.add(1, 100, 200, 1011, 1020);
        assertCounted(2, 200);
        // The control: one byte nearer.
        ranges.add(1, 0, 100, 0, 10);
        ranges.add(1, 100, 200, 1010, 1020);
        assertCounted(3, 400);
        // It does not matter which of them is wanted first.
        ranges.add(1, 0, 100, 1010, 1020);
        ranges.add(1, 100, 200, 0, 10);
        assertCounted(4, 600);
    }

    @Test
    void neighboursThatAreReadAgainAreOneRequestEachTime() {
        for (int time = 0; time < 3; time++) {
            ranges.add(1, 100, 200, time * 5000L, time * 5000L + 10);
            ranges.add(1, 200, 300, time * 5000L, time * 5000L + 10);
            ranges.add(1, 0, 100, time * 5000L, time * 5000L + 10);
        }
        assertCounted(3, 900);
    }

    @Test
    void whatIsWantedLaterDoesNotDivideARequest() {
        ranges.add(1, 0, 100, 0, 10);
        ranges.add(1, 100, 150, 5000, 5010);
        ranges.add(1, 150, 200, 0, 10);
        assertCounted(2, 250);
    }

    @Test
    void aRangeWithinAnotherCostsNothing() {
        ranges.add(1, 0, 100, 0, 10);
        ranges.add(1, 20, 50, 5, 10);
        ranges.add(1, 110, 120, 5, 10);
        assertCounted(1, 120);
    }

    @Test
    void ofMoreRangesThanAreKeptOneRequestCountsTwice() {
        for (int i = 0; i < DiskRanges.MAX_RANGES; i++) {
            ranges.add(1, i * 10L, i * 10L + 10, 0, 10);
        }
        assertCounted(1, DiskRanges.MAX_RANGES * 10L);
        for (int i = 0; i <= DiskRanges.MAX_RANGES; i++) {
            ranges.add(1, i * 10L, i * 10L + 10, 0, 10);
        }
        assertCounted(3, (2 * DiskRanges.MAX_RANGES + 1) * 10L);
    }

    private void assertCounted(long requests, long bytes) {
        ranges.count();
        assertEquals(requests, ranges.requests());
        assertEquals(bytes, ranges.bytes());
    }
}
