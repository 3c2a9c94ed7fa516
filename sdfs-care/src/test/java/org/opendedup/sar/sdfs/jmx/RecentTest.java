package org.opendedup.sar.sdfs.jmx;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RecentTest {
    @Test
    void aSampleServesThoseWhoAskSoonAfterAndWhoeverWantsThePresentGetsANewOne() {
        var taken = new AtomicInteger();
        var recent = new Recent<>(Duration.ofDays(1), taken::incrementAndGet);
        assertEquals(1, recent.get());
        assertEquals(1, recent.get());
        assertEquals(2, recent.now());
        assertEquals(2, recent.get());
    }

    @Test
    void anOldSampleIsTakenAnew() {
        var taken = new AtomicInteger();
        var recent = new Recent<>(Duration.ofNanos(-1), taken::incrementAndGet);
        assertEquals(1, recent.get());
        assertEquals(2, recent.get());
    }
}
