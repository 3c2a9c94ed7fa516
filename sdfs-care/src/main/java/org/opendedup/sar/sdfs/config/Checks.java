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
}
