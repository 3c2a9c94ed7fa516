package org.opendedup.sar.sdfs.config;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.time.temporal.IsoFields;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which snapshots are kept, by their times, as the options {@code --keep-*} of restic's {@code forget} define it: of
 * each of the newest N periods that have snapshots, the newest snapshot. Periods without a snapshot do not count, so a
 * volume that was not mounted for a month loses nothing by that. Each rule looks at all snapshots; one that any rule
 * keeps stays.
 *
 * @param counts the number of periods, by their kind; without any, all snapshots are kept
 */
public record KeepRules(Map<Period, Integer> counts) {
    /** In place of rules: nothing expires. */
    public static final String ALL = "all";

    public static final KeepRules DEFAULT =
            new KeepRules(Map.of(Period.HOURLY, 24, Period.DAILY, 7, Period.WEEKLY, 4, Period.MONTHLY, 12));

    private static final int MAX = 100_000;

    /** The kinds of periods; days, weeks of ISO 8601, months and years are those of the calendar. */
    public enum Period {
        LAST(time -> time),
        /** By the moment of its beginning: the hour that a clock shows twice in autumn is two hours. */
        HOURLY(time -> time.truncatedTo(ChronoUnit.HOURS).toInstant()),
        DAILY(ZonedDateTime::toLocalDate),
        WEEKLY(time -> List.of(time.get(IsoFields.WEEK_BASED_YEAR), time.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR))),
        MONTHLY(time -> List.of(time.getYear(), time.getMonthValue())),
        YEARLY(ZonedDateTime::getYear);

        private final Function<ZonedDateTime, Object> key;

        Period(Function<ZonedDateTime, Object> key) {
            this.key = key;
        }

        /** Returns the name of the rule in a text. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public KeepRules {
        counts = counts.isEmpty() ? Map.of() : new EnumMap<>(counts);
        counts.forEach((period, count) -> Checks.check(
                count >= 1 && count <= MAX,
                "the number of snapshots to keep, " + period.word() + "=" + count + ", must be from 1 to " + MAX));
    }

    /**
     * Reads rules such as {@code hourly=24,daily=7}, or {@value #ALL}.
     *
     * @throws IllegalArgumentException if the text has no rules; the message says what is allowed
     */
    public static KeepRules parse(String text) {
        Map<Period, Integer> counts = new EnumMap<>(Period.class);
        for (String rule : text.equals(ALL) ? new String[0] : text.split(",", -1)) {
            Period period = period(rule.replaceFirst("=.*", ""));
            boolean isNumber = rule.matches("[a-z]+=[0-9]{1,6}");
            Checks.check(
                    period != null && isNumber && !counts.containsKey(period),
                    "'" + rule + "' is no rule of what to keep; write last, hourly, daily, weekly, monthly or yearly,"
                            + " each at most once, with a number, such as " + DEFAULT + "; or " + ALL);
            if (period != null) {
                counts.put(period, Integer.valueOf(rule.substring(rule.indexOf('=') + 1)));
            }
        }
        return new KeepRules(counts);
    }

    private static @Nullable Period period(String word) {
        for (Period period : Period.values()) {
            if (period.word().equals(word)) {
                return period;
            }
        }
        return null;
    }

    /** Returns whether all snapshots are kept. */
    public boolean keepAll() {
        return counts.isEmpty();
    }

    /**
     * Returns those of some snapshots that no rule keeps, the oldest first.
     *
     * @param snapshots in the order in which they were made
     * @param created returns when one was made, in milliseconds since 1970
     * @param zone decides when a day begins
     */
    public <T> List<T> expired(Collection<T> snapshots, Function<T, Long> created, ZoneId zone) {
        if (keepAll()) {
            return List.of();
        }
        List<T> newestFirst = new ArrayList<>(snapshots);
        // Not by time: a clock that was ahead for a while would make those of the present the oldest.
        Collections.reverse(newestFirst);
        Set<T> kept = new HashSet<>();
        counts.forEach((period, count) -> {
            Set<Object> periods = new HashSet<>();
            for (T snapshot : newestFirst) {
                Object key = period.key.apply(
                        Instant.ofEpochMilli(created.apply(snapshot)).atZone(zone));
                if (periods.size() < count && periods.add(period == Period.LAST ? snapshot : key)) {
                    kept.add(snapshot);
                }
            }
        });
        List<T> expired =
                newestFirst.stream().filter(one -> !kept.contains(one)).collect(Collectors.toList());
        Collections.reverse(expired);
        return List.copyOf(expired);
    }

    /** Returns the text that {@link #parse} reads. */
    @Override
    public String toString() {
        return keepAll()
                ? ALL
                : counts.entrySet().stream()
                        .map(rule -> rule.getKey().word() + "=" + rule.getValue())
                        .collect(Collectors.joining(","));
    }
}
