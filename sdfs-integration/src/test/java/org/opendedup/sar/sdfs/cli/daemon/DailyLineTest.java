package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DailyLineTest {
    private static Duration untilNext(String instant) {
        return DailyLine.untilNext(Clock.fixed(Instant.parse(instant), ZoneId.of("Europe/Berlin")));
    }

    @Test
    void theNextLineIsAMinuteBeforeTheNextLocalMidnight() {
        assertEquals(Duration.ofHours(23).plusMinutes(59), untilNext("2026-11-28T23:00:00Z"));
        assertEquals(Duration.ofDays(1), untilNext("2026-11-29T22:59:00Z"), "not twice on one day");
        assertEquals(Duration.ofMillis(1), untilNext("2026-11-29T22:58:59.999Z"));
        assertEquals(Duration.ofHours(24).plusMinutes(59), untilNext("2026-10-24T22:00:00Z"), "a day of 25 hours");
    }
}
