package org.opendedup.sar.sdfs.config;

/** Checks of the settings of a volume. */
final class Checks {
    private Checks() {}

    /** @throws IllegalArgumentException with the message, unless {@code holds} */
    static void check(boolean holds, String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }

    /** @throws IllegalArgumentException if the value is below {@code min} or above {@code max}; names all three */
    static void checkRange(String what, long value, long min, long max) {
        check(value >= min && value <= max, what + " is " + value + "; it must be from " + min + " to " + max);
    }
}
