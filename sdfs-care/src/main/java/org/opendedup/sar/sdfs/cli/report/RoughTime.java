package org.opendedup.sar.sdfs.cli.report;

/** Formats times for people: in one unit, as exact as they need it. */
public final class RoughTime {
    private RoughTime() {}

    /** Returns {@code 90 s}, {@code 5 min}, {@code 7 h} or {@code 3 days}, rounded down. */
    public static String of(long seconds) {
        if (seconds < 120) {
            return seconds + " s";
        }
        long minutes = seconds / 60;
        if (minutes < 120) {
            return minutes + " min";
        }
        long hours = minutes / 60;
        return hours < 48 ? hours + " h" : hours / 24 + " days";
    }
}
