package org.opendedup.sar.hot.promotion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.opendedup.sar.hot.promotion.FileSpans.Span;

class FileSpansTest {
    private final FileSpans spans = new FileSpans(2, 10);

    @Test
    void aRangeComesWhenItHasWaitedLongEnough() {
        spans.note(1, 0, 5, 100);
        assertNull(spans.take(109));
        assertEquals(new Span(1, 0, 5), spans.take(110));
        assertNull(spans.take(1000));
    }

    @Test
    void whatGoesOnInTheSameFileIsOneRangeAndWaitsAnew() {
        spans.note(1, 0, 5, 100);
        spans.note(1, 5, 9, 105);
        assertNull(spans.take(114));
        assertEquals(new Span(1, 0, 9), spans.take(115));
        spans.note(1, 0, 5, 200);
        spans.note(2, 5, 9, 200);
        assertEquals(new Span(1, 0, 5), spans.take(210));
        assertEquals(new Span(2, 5, 9), spans.take(210));
        spans.note(1, 0, 5, 300);
        spans.note(1, 6, 9, 300);
        assertEquals(new Span(1, 0, 5), spans.take(310));
        assertEquals(new Span(1, 6, 9), spans.take(310));
    }

    @Test
    void theOneThatWaitsLongestGivesWayAndThisIsTold() {
        assertTrue(spans.note(1, 0, 5, 100));
        assertTrue(spans.note(2, 0, 5, 101));
        assertTrue(spans.note(2, 5, 6, 101), "joined");
        assertFalse(spans.note(3, 0, 5, 102));
        assertEquals(new Span(2, 0, 6), spans.take(200));
        assertEquals(new Span(3, 0, 5), spans.take(200));
        assertNull(spans.take(200));
    }
}
