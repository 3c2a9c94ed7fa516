package org.opendedup.sar.sdfs.jolokia;

import java.util.Arrays;
import java.util.Locale;

/** What a user of the beans may do. */
public enum Role {
    /** Read attributes, and call operations that change nothing. */
    READ,
    /** Also change settings, and call operations that change the volume. */
    CHANGE;

    /**
     * Returns the role with this name.
     *
     * @throws IllegalArgumentException if there is none; the message names them
     */
    public static Role of(String name) {
        return Arrays.stream(values())
                .filter(role -> role.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("'" + name + "' is no role; choose read or change"));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
