package org.opendedup.sar.sdfs.wear;

import java.time.LocalDate;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Bytes written, in total and on each of the last days. Not safe for use by many threads.
 *
 * <p>The days are those of the local calendar.
 */
final class WrittenDays {
    /** Days that are kept: a month, for whoever looks at the file. */
    private static final int KEPT_DAYS = 31;

    private static final int WEEK = 7;

    private final TreeMap<LocalDate, Long> days;
    private long total;

    WrittenDays(long total, SortedMap<LocalDate, Long> days) {
        this.total = total;
        this.days = new TreeMap<>(days);
    }

    void add(LocalDate day, long bytes) {
        total += bytes;
        days.merge(day, bytes, Long::sum);
        days.headMap(day.minusDays(KEPT_DAYS)).clear();
    }

    long total() {
        return total;
    }

    SortedMap<LocalDate, Long> days() {
        return Collections.unmodifiableSortedMap(days);
    }

    long on(LocalDate day) {
        return days.getOrDefault(day, 0L);
    }

    /**
     * Returns the mean of the seven days before a day, or of those since the first known one; 0 if there are none. Days
     * on which nothing was written count.
     */
    long meanBefore(LocalDate day) {
        long counted = days.isEmpty()
                ? 0
                : Math.min(WEEK, day.toEpochDay() - days.firstKey().toEpochDay());
        if (counted <= 0) {
            return 0;
        }
        long bytes = days.subMap(day.minusDays(counted), day).values().stream()
                .mapToLong(Long::longValue)
                .sum();
        return bytes / counted;
    }
}
