package org.opendedup.sar.remote;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The names of the objects by which readers are registered: {@code readers/READER/NUMBER}, with {@code -copying} behind
 * it while the reader copies the metadata. The number has 16 hexadecimal digits and rises with each renewal. The
 * objects have no bytes of use: all that is said is in the name, so a list is enough to know it.
 */
final class ReaderNames {
    static final String ALL = "readers/";

    private static final String COPYING = "-copying";
    private static final Pattern NAME = Pattern.compile(ALL + "([^/]+)/([0-9a-f]{16})(" + COPYING + ")?");

    private ReaderNames() {}

    /** What a name says. */
    record Parts(String reader, long number, boolean isCopying) {}

    static String of(Parts parts) {
        return folder(parts.reader())
                + String.format(Locale.ROOT, "%016x", parts.number())
                + (parts.isCopying() ? COPYING : "");
    }

    /** Returns what the names of all objects of a reader begin with. */
    static String folder(String reader) {
        return ALL + reader + "/";
    }

    /** Returns what a name says; null if it is not one of these. */
    static @Nullable Parts parse(String name) {
        Matcher matcher = NAME.matcher(name);
        return matcher.matches()
                ? new Parts(matcher.group(1), Long.parseUnsignedLong(matcher.group(2), 16), matcher.group(3) != null)
                : null;
    }
}
