package org.opendedup.sar.sdfs.cli.upstream;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An option as {@code --name}, {@code --name=value} or {@code --name value}.
 *
 * @param name without hyphens
 * @param value null if there is none
 * @param words number of arguments that it takes
 */
record LongOption(String name, @Nullable String value, int words) {
    /** Returns the option at a place in the arguments; null if there is something else. */
    static @Nullable LongOption at(List<String> arguments, int place) {
        String word = arguments.get(place);
        if (!word.startsWith("--") || word.length() == 2) {
            return null;
        }
        int equals = word.indexOf('=');
        if (equals >= 0) {
            return new LongOption(word.substring(2, equals), word.substring(equals + 1), 1);
        }
        boolean hasValue =
                place + 1 < arguments.size() && !arguments.get(place + 1).startsWith("-");
        return new LongOption(word.substring(2), hasValue ? arguments.get(place + 1) : null, hasValue ? 2 : 1);
    }

    boolean is(String expected) {
        return expected.equalsIgnoreCase(value);
    }
}
