package org.opendedup.sar.sdfs.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which snapshots are kept, by tables of times. */
class KeepRulesTest {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    private static List<String> kept(String rules, ZoneId zone, List<String> times) {
        Set<String> left = new TreeSet<>(times);
        left.removeAll(KeepRules.parse(rules)
                .expired(times, time -> ZonedDateTime.parse(time).toInstant().toEpochMilli(), zone));
        return List.copyOf(left);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "all       | 01T01:00 01T02:00 02T01:00 | 01T01:00 01T02:00 02T01:00",
                "last=2    | 01T01:00 01T02:00 02T01:00 | 01T02:00 02T01:00",
                // The newest of each period; one that ends a period of its own counts as that.
                "hourly=2  | 01T01:00 01T02:00 01T02:59 01T03:00 | 01T02:59 01T03:00",
                "daily=2   | 01T01:00 01T23:00 02T00:00 02T05:00 | 01T23:00 02T05:00",
                // Periods without a snapshot do not count.
                "daily=3   | 01T01:00 07T01:00 28T01:00 | 01T01:00 07T01:00 28T01:00",
                "hourly=2  | 01T01:00 01T02:00 09T05:00 | 01T02:00 09T05:00",
                // Weeks begin on Monday: the 4th and the 11th of May 2026.
                "weekly=2  | 01T01:00 03T23:59 04T00:00 10T01:00 11T01:00 | 10T01:00 11T01:00",
                "weekly=3  | 01T01:00 03T23:59 04T00:00 10T01:00 11T01:00 | 03T23:59 10T01:00 11T01:00",
                // A snapshot may serve several rules; what any keeps stays.
                "last=1,daily=2 | 01T01:00 01T02:00 02T01:00 02T03:00 | 01T02:00 02T03:00",
                "hourly=3,daily=2 | 01T01:00 01T02:00 02T01:00 02T03:00 | 01T02:00 02T01:00 02T03:00",
                "yearly=9 | 01T01:00 01T02:00 | 01T02:00",
                // The clock was ahead for a while: what was made last is the newest.
                "last=2    | 01T01:00 09T01:00 09T02:00 01T03:00 | 01T03:00 09T02:00",
                "hourly=2  | 01T01:00 09T01:00 09T02:00 01T03:00 | 01T03:00 09T02:00",
            })
    void keepsTheNewestOfEachPeriod(String rules, String times, String kept) {
        List<String> all = new ArrayList<>();
        for (String time : times.split(" ")) {
            all.add("2026-05-" + time + "Z");
        }
        assertEquals(
                List.of(kept.split(" ")),
                kept(rules, ZoneId.of("UTC"), all).stream()
                        .map(time -> time.substring("2026-05-".length(), time.length() - 1))
                        .toList());
    }

    /** In autumn a clock shows an hour twice, and these are two hours; in spring it leaves one out. */
    @Test
    void hoursAreThoseThatPassAndDaysThoseOfTheCalendar() {
        List<String> autumn = List.of("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z");
        assertEquals(autumn, kept("hourly=3", BERLIN, autumn));
        List<String> spring = List.of("2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z");
        assertEquals(spring, kept("hourly=2", BERLIN, spring));
        List<String> midnight = List.of("2026-10-24T21:59:00Z", "2026-10-24T22:00:00Z", "2026-10-25T22:59:00Z");
        assertEquals(List.of("2026-10-24T21:59:00Z", "2026-10-25T22:59:00Z"), kept("daily=2", BERLIN, midnight));
        assertEquals(midnight.subList(0, 1), kept("daily=1", BERLIN, midnight.subList(0, 1)));
    }

    /** ISO weeks belong to the year of their Thursday. */
    @Test
    void aWeekAtTheEndOfAYearIsOneWeek() {
        List<String> times = List.of("2026-12-31T12:00:00Z", "2027-01-01T12:00:00Z", "2027-01-04T12:00:00Z");
        assertEquals(times.subList(1, 3), kept("weekly=5", BERLIN, times));
    }

    /** A year of hourly snapshots, pruned after each, is what the rules say and no more. */
    @Test
    void aYearOfHoursLeavesAsManyAsTheRulesSay() {
        List<Instant> left = new ArrayList<>();
        Instant time = Instant.parse("2026-01-01T00:00:00Z");
        for (int hour = 0; hour < 366 * 24; hour++, time = time.plus(Duration.ofHours(1))) {
            left.add(time);
            left.removeAll(KeepRules.DEFAULT.expired(left, Instant::toEpochMilli, BERLIN));
        }
        // The hours are of two days; some days end a week or a month.
        assertEquals(41, left.size(), left::toString);
        assertEquals("2026-02-28T22:00:00Z", left.get(0).toString());
    }

    /**
     * A snapshot of a time that has not come, from when the clock was ahead, makes no other one go but one of a rule.
     */
    @Test
    void aSnapshotOfTheFutureTakesOnePlaceOfEachRule() {
        List<String> times =
                List.of("2026-05-01T01:00:00Z", "2026-05-01T02:00:00Z", "2026-05-01T03:00:00Z", "2099-01-01T00:00:00Z");
        assertEquals(times.subList(1, 4), kept("hourly=3", BERLIN, times));
    }

    @Test
    void aTextIsReadAndWritten() {
        assertEquals("hourly=24,daily=7,weekly=4,monthly=12", KeepRules.DEFAULT.toString());
        assertEquals(KeepRules.DEFAULT, KeepRules.parse("monthly=12,weekly=4,daily=7,hourly=24"));
        assertEquals("all", KeepRules.parse("all").toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "24",
                "hourly",
                "hourly=",
                "hourly=0",
                "hourly=-1",
                "hourly=1,hourly=2",
                "none=1",
                "hourly=1,",
                "Hourly=1",
                "hourly=1000000",
                "hourly=x=1"
            })
    void whatIsNoRuleIsRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> KeepRules.parse(text));
    }
}
