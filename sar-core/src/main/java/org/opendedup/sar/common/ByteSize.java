package org.opendedup.sar.common;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads and writes sizes in bytes in human-readable form. Units are binary, as in SDFS: 1KB is 1024 bytes, and so are
 * 1K and 1KiB.
 */
public final class ByteSize {
    private static final String UNITS = "BKMGTPE";
    private static final Pattern SYNTAX = Pattern.compile("(\\d{1,19})\\s*([BKMGTPE]?)(?:(?<=[KMGTPE])I?B)?");

    private ByteSize() {}

    /**
     * Reads a size: digits and a unit (B, KB, MB, GB, TB, PB, EB; the forms K and KiB, and any case, mean the same).
     * Without a unit, the number is in bytes.
     *
     * @throws IllegalArgumentException if the text is not a size or exceeds a {@code long}; the message says what is
     *     allowed
     */
    public static long parse(String text) {
        Matcher matcher = SYNTAX.matcher(text.strip().toUpperCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a size; write digits and a unit, such as 256KB, 10GB or 2TB");
        }
        try {
            return Math.multiplyExact(Long.parseLong(matcher.group(1)), bytesOf(matcher.group(2)));
        } catch (ArithmeticException | NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is too large; sizes end below 8EB", e);
        }
    }

    private static long bytesOf(String unit) {
        return unit.isEmpty() ? 1 : 1L << (10 * UNITS.indexOf(unit.charAt(0)));
    }

    /** Writes a size exactly, in the largest unit that divides it: 10GB, 1500B. {@link #parse} reads it back. */
    public static String exact(long bytes) {
        int unit = bytes == 0 ? 0 : Math.min(Long.numberOfTrailingZeros(bytes) / 10, UNITS.length() - 1);
        return (bytes >> (10 * unit)) + (unit == 0 ? "B" : UNITS.charAt(unit) + "B");
    }

    /** Writes a size for people, rounded to about three digits: 1.46 GiB, 812 MiB, 77 B. */
    public static String rounded(long bytes) {
        int unit = 0;
        double value = bytes;
        while (Math.abs(value) >= 1023.5 && unit < UNITS.length() - 1) {
            value /= 1024;
            unit++;
        }
        if (unit == 0) {
            return bytes + " B";
        }
        int decimals = Math.abs(value) < 9.995 ? 2 : Math.abs(value) < 99.95 ? 1 : 0;
        return String.format(Locale.ROOT, "%." + decimals + "f %ciB", value, UNITS.charAt(unit));
    }
}
