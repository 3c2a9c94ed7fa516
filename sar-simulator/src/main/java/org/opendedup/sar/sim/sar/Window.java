package org.opendedup.sar.sim.sar;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The replayed part of a trace; everything before it is warm-up.
 *
 * @param fromNanos start, in nanoseconds from the start of the trace
 * @param untilNanos end, exclusive
 */
record Window(long fromNanos, long untilNanos) {
    static final String WHOLE_DAY = "0:00-24:00";

    private static final Pattern SYNTAX = Pattern.compile("(\\d{1,2}):(\\d{2})-(\\d{1,2}):(\\d{2})");
    private static final long MINUTE_NANOS = 60_000_000_000L;
    private static final long DAY_NANOS = 24 * 60 * MINUTE_NANOS;

    /**
     * Parses hours of the day that follows the days of warming up.
     *
     * @throws IllegalArgumentException if the text is not a range of hours; says what is allowed
     */
    static Window parse(String hours, int warmDays) {
        Matcher matcher = SYNTAX.matcher(hours.strip());
        if (matcher.matches()) {
            long from = warmDays * DAY_NANOS + nanos(matcher.group(1), matcher.group(2));
            long until = warmDays * DAY_NANOS + nanos(matcher.group(3), matcher.group(4));
            if (from < until && until <= (warmDays + 1) * DAY_NANOS) {
                return new Window(from, until);
            }
        }
        throw new IllegalArgumentException(
                "'" + hours + "' is not a part of a day; write its start and end, such as 18:40-23:45");
    }

    private static long nanos(String hours, String minutes) {
        return (Long.parseLong(hours) * 60 + Long.parseLong(minutes)) * MINUTE_NANOS;
    }

    long nanos() {
        return untilNanos - fromNanos;
    }
}
