package org.opendedup.sar.sdfs.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScheduleTest {
    /** A Saturday; the clocks go forward in the night that follows. */
    private static final ZonedDateTime SATURDAY =
            ZonedDateTime.of(2026, 3, 28, 12, 0, 0, 0, ZoneId.of("Europe/Berlin"));

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 0 12 ? * SUN | 2026-03-29T12:00+02:00",
                "0 0 12 ? * 1 | 2026-03-29T12:00+02:00",
                "0 30 2 * * ? | 2026-03-29T03:00+02:00",
                "0 0 3 1 * ? | 2026-04-01T03:00+02:00",
                Schedule.SCRUBS_DEFAULT + " | 2026-04-05T03:00+02:00",
                "0 0 12 * * ? | 2026-03-29T12:00+02:00",
                "0 0 0/6 ? * MON-FRI 2027-2028 | 2027-01-01T00:00+01:00"
            })
    void theNextTimeIsLocal(String schedule, String next) {
        assertEquals(
                next,
                Schedule.parse(schedule)
                        .next(SATURDAY)
                        .orElseThrow()
                        .toOffsetDateTime()
                        .toString());
    }

    /** Each schedule in each zone: no day without its time, none earlier than what came before. */
    @ParameterizedTest
    @ValueSource(
            strings = {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Tehran"})
    void noDayIsLeftOutWhenTheClockLeaps(String zone) {
        for (String text : List.of("0 30 2 * * ?", "0 0 0 * * ?", "30 5 2 * * ?", "0 30 1 * * ?")) {
            Schedule schedule = Schedule.parse(text);
            ZonedDateTime time = ZonedDateTime.of(2010, 1, 1, 12, 0, 0, 0, ZoneId.of(zone));
            for (int day = 1; day < 420; day++) {
                ZonedDateTime next = schedule.next(time).orElseThrow();
                assertEquals(LocalDate.of(2010, 1, 1).plusDays(day), next.toLocalDate(), text);
                assertTrue(next.isAfter(time), text);
                time = next;
            }
        }
    }

    /** In the night in which the clock leaps from 2:00 to 3:00. */
    @Test
    void oftenMeansNoMoreOftenWhenTheClockLeaps() {
        for (String text : List.of("0 0/15 * * * ?", "0 5/20 * * * ?", "0 30 * * * ?", "0 0 * * * ?")) {
            Schedule schedule = Schedule.parse(text);
            int times = 0;
            ZonedDateTime time = SATURDAY;
            while (time.isBefore(SATURDAY.plusHours(24))) {
                time = schedule.next(time).orElseThrow();
                times++;
            }
            int hourly = text.contains("15") ? 4 : text.contains("20") ? 3 : 1;
            assertTrue(Math.abs(times - 24 * hourly) <= 1, text + ": " + times);
        }
        assertEquals(
                "2026-03-29T03:00+02:00",
                Schedule.parse("0 30 2 29 3 ? 2026")
                        .next(SATURDAY)
                        .orElseThrow()
                        .toOffsetDateTime()
                        .toString(),
                "its only time");
    }

    @Test
    void aScheduleInThePastAndNoScheduleHaveNoNextTime() {
        assertEquals(Optional.empty(), Schedule.parse("0 0 12 1 1 ? 2020").next(SATURDAY));
        assertEquals(Optional.empty(), Schedule.parse(Schedule.OFF).next(SATURDAY));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "never",
                "@daily",
                "* * *",
                "0 12 * * SUN",
                "0 0 25 ? * SUN",
                "0 0 12 * * SUN",
                "0 0 12 ? * XYZ",
                "0 0 12 ? * SUN 2026 1",
                "0 , 12 ? * SUN",
                "0 | 12 ? * SUN"
            })
    void whatIsNoScheduleIsRefusedAndARightOneIsShown(String text) {
        var e = assertThrows(IllegalArgumentException.class, () -> Schedule.parse(text));
        assertTrue(
                e.getMessage().startsWith("'" + text + "' is no schedule")
                        && e.getMessage().contains(Schedule.COLLECTIONS_DEFAULT),
                e::getMessage);
        assertEquals(
                "--io-claim-chunks-schedule: " + e.getMessage(),
                assertThrows(IllegalArgumentException.class, () -> with(text)).getMessage());
    }

    @Test
    void aVolumeTakesEachScheduleThatCanBeParsed() {
        for (String text :
                new String[] {Schedule.COLLECTIONS_DEFAULT, Schedule.SCRUBS_DEFAULT, Schedule.OFF, "0 30 2 * * ?"}) {
            assertEquals(
                    text, Schedule.parse(with(text).garbageCollectionSchedule()).toString());
        }
    }

    private static VolumeDefinition with(String schedule) {
        return Definitions.plain("pool0", Path.of("/srv/pool0")).with(VolumeOptions.COLLECTIONS, schedule);
    }
}
