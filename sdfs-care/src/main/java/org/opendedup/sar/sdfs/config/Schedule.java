package org.opendedup.sar.sdfs.config;

import com.cronutils.model.Cron;
import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * When a job of a mounted volume starts, as a cron expression in the syntax of Quartz: 6 or 7 fields for seconds,
 * minutes, hours, day of month, month, day of week and, if given, year; one of the two days is {@code ?}. Or
 * {@value #OFF}: never. Safe for use by many threads.
 */
public final class Schedule {
    /** Of collections of garbage: each Sunday at noon, as in SDFS. */
    public static final String COLLECTIONS_DEFAULT = "0 0 12 ? * SUN";

    /** Of scrubs: the first Sunday of each month at 3:00. */
    public static final String SCRUBS_DEFAULT = "0 0 3 ? * SUN#1";

    /** No schedule. */
    public static final String OFF = "off";

    /** Changes of the clock that are looked at: those of ten years and more. */
    private static final int MAX_LEAPS = 24;

    private final String text;
    /** Null until it is asked for: a mount needs no time of the schedule. Guarded by this. */
    private @Nullable ExecutionTime times;

    private Schedule(String text) {
        this.text = text;
    }

    /**
     * @throws IllegalArgumentException if the text is no schedule; the message says what is wrong and shows a right one
     */
    public static Schedule parse(String text) {
        return new Schedule(checked(text));
    }

    /** As {@link #parse}; returns the text. */
    static String checked(String text) {
        // Every command reads the volume file, and loading the parser takes a tenth of a second.
        if (!text.equals(COLLECTIONS_DEFAULT) && !text.equals(SCRUBS_DEFAULT) && !text.equals(OFF)) {
            var unused = cron(text);
        }
        return text;
    }

    private static Cron cron(String text) {
        try {
            return new CronParser(CronDefinitionBuilder.instanceDefinitionFor(CronType.QUARTZ))
                    .parse(text)
                    .validate();
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            // The parser has no check of its own for a field that only consists of separators.
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IllegalArgumentException(
                    "'" + text + "' is no schedule: " + cause.getMessage()
                            + ". Write seconds, minutes, hours, day of month, month and day of week, with ? for one of"
                            + " the two days, such as '" + COLLECTIONS_DEFAULT
                            + "' (Sundays at 12:00), '0 30 2 * * ?' (each day at"
                            + " 2:30) or '0 0 3 1 * ?' (on the first of each month at 3:00); or '" + OFF + "'",
                    e);
        }
    }

    /**
     * Returns the first time after another, in its time zone; empty if there is none. A time that the clock leaps over
     * when summer time begins is the moment of the leap, unless another time follows within the leap's length: a job of
     * each day runs on that day, too, and one of each quarter of an hour not once more.
     */
    public Optional<ZonedDateTime> next(ZonedDateTime after) {
        if (text.equals(OFF)) {
            return Optional.empty();
        }
        Optional<ZonedDateTime> next = times().nextExecution(after);
        return leaptOver(after, next.orElse(null)).or(() -> next);
    }

    /** Returns the first leap of the clock between two times that leaps over a time of the schedule. */
    private Optional<ZonedDateTime> leaptOver(ZonedDateTime after, @Nullable ZonedDateTime next) {
        ZoneRules rules = after.getZone().getRules();
        ZoneOffsetTransition leap = rules.nextTransition(after.toInstant());
        // Bounded for a schedule whose only time is leapt over, or past.
        for (int i = 0; i < MAX_LEAPS && leap != null; i++) {
            if (next != null && !leap.getInstant().isBefore(next.toInstant())) {
                break;
            }
            ZonedDateTime end = leap.getInstant().atZone(after.getZone());
            if (leap.isGap()
                    && has(leap.getDateTimeBefore(), leap.getDateTimeAfter())
                    && (next == null || Duration.between(end, next).compareTo(leap.getDuration()) > 0)) {
                return Optional.of(end);
            }
            leap = rules.nextTransition(leap.getInstant());
        }
        return Optional.empty();
    }

    /**
     * Returns whether a clock that never leaps has a time of the schedule from {@code from} to {@code to} (exclusive).
     */
    private boolean has(LocalDateTime from, LocalDateTime to) {
        return times().nextExecution(from.minusSeconds(1).atZone(ZoneOffset.UTC))
                // The parser's library leaves out a time at the end as well.
                .filter(time -> !time.toLocalDateTime().isAfter(to))
                .isPresent();
    }

    private synchronized ExecutionTime times() {
        ExecutionTime known = times;
        if (known == null) {
            known = ExecutionTime.forCron(cron(text));
            times = known;
        }
        return known;
    }

    /** Returns the text that {@link #parse} reads. */
    @Override
    public String toString() {
        return text;
    }
}
