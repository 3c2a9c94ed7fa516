package org.opendedup.sar.metadata.remote;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opendedup.sar.common.CorruptionException;

/**
 * How far the log of a volume went at least, as its owner has noted in its lease: whoever opens the volume later finds
 * out that segments are missing at the end, of which nothing else says that they were there.
 *
 * @param owner who may put the segment behind
 * @param number number of the last segment
 * @param sequence number of its last change
 */
record LogEnd(Owner owner, long number, long sequence) {
    private static final Pattern TEXT = Pattern.compile("log ([0-9]{1,18}) ([0-9a-f]{16}) ([0-9]{1,18}) ([0-9]{1,18})");

    static LogEnd of(ChainPoint point) {
        return new LogEnd(point.owner(), point.number(), point.sequence());
    }

    /** Returns it as one line of ASCII. */
    String text() {
        return String.format(Locale.ROOT, "log %d %016x %d %d", owner.lease(), owner.token(), number, sequence);
    }

    /**
     * Returns what {@link #text} made.
     *
     * @param place names the text in messages
     */
    static LogEnd parse(String text, String place) throws CorruptionException {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new CorruptionException(place, -1, "the end of a log", text);
        }
        return new LogEnd(
                new Owner(Long.parseLong(matcher.group(1)), Long.parseUnsignedLong(matcher.group(2), 16)),
                Long.parseLong(matcher.group(3)),
                Long.parseLong(matcher.group(4)));
    }
}
