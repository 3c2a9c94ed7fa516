package org.opendedup.sar.sdfs.config;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * When the metadata of a mounted volume are backed up by themselves, and how many backups are kept.
 *
 * @param interval time from one backup to the next, if something has changed; zero: never
 * @param keep number of backups that are kept
 * @param atEachEnd whether one is also made at each unmount if something has changed. A volume of files needs that only
 *     if the newest backup is old: what a restored backup lacks is in files that were written since
 */
public record BackupSettings(Duration interval, int keep, boolean atEachEnd) {
    /** Written in place of an interval: no automatic backups. */
    public static final String OFF = "off";

    public static final String DEFAULT_INTERVAL = "6h";
    public static final int DEFAULT_KEEP = 4;

    static final int KEEP_MAX = 1000;
    private static final Pattern INTERVAL = Pattern.compile("([1-9]\\d{0,4})([mh])");

    /** @throws IllegalArgumentException if a value is not allowed; the message names what is allowed */
    public BackupSettings {
        Checks.check(
                keep >= 1 && keep <= KEEP_MAX,
                "the number of metadata backups to keep is " + keep + "; it must be from 1 to " + KEEP_MAX);
    }

    /** Without backups at each unmount. */
    public BackupSettings(Duration interval, int keep) {
        this(interval, keep, false);
    }

    /** Returns these settings with a backup at each unmount. */
    public BackupSettings withEachEnd() {
        return new BackupSettings(interval, keep, true);
    }

    /**
     * @param interval such as {@code 6h} or {@code 30m}, or {@value #OFF}
     * @throws IllegalArgumentException if a value is not allowed; the message names what is allowed
     */
    public static BackupSettings of(String interval, int keep) {
        if (interval.equals(OFF)) {
            return new BackupSettings(Duration.ZERO, keep);
        }
        Matcher matcher = INTERVAL.matcher(interval);
        Checks.check(
                matcher.matches(),
                "'" + interval + "' is no interval of metadata backups; write hours or minutes, such as 6h or 30m, or "
                        + OFF);
        long number = Long.parseLong(matcher.group(1));
        return new BackupSettings(
                matcher.group(2).equals("h") ? Duration.ofHours(number) : Duration.ofMinutes(number), keep);
    }

    /** Returns an interval in its shortest form; exceptions as of {@link #of}. */
    static String checkedInterval(String interval) {
        return of(interval, DEFAULT_KEEP).intervalText();
    }

    public boolean isOff() {
        return interval.isZero();
    }

    /** Returns the interval as {@link #of} reads it. */
    public String intervalText() {
        if (isOff()) {
            return OFF;
        }
        long minutes = interval.toMinutes();
        return minutes % 60 == 0 ? minutes / 60 + "h" : minutes + "m";
    }
}
