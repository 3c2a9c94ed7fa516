package org.opendedup.sar.metadata.remote;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The names of the objects that metadata have in an object store. Numbers have 16 hexadecimal digits. */
final class ObjectNaming {
    static final String ALL = "metadata/";
    static final String LOG = ALL + "log/";
    static final String FILES = ALL + "files/";
    static final String CHECKPOINTS = ALL + "checkpoints/";

    private static final String NUMBER = "([0-9a-f]{16})";
    private static final Pattern SEGMENT = Pattern.compile(LOG + NUMBER + "/" + NUMBER);
    private static final Pattern CHECKPOINT =
            Pattern.compile(CHECKPOINTS + NUMBER + "-" + NUMBER + "-" + NUMBER + "(-ahead)?");
    private static final Pattern FILE = Pattern.compile(FILES + NUMBER + "-[A-Za-z0-9._-]{1,150}");

    private ObjectNaming() {}

    /** Returns the name of a log segment. It has the lease: what follows the last segment of a lease is fixed by it. */
    static String segment(long lease, long number) {
        return segments(lease) + digits(number);
    }

    /** Returns what the names of all segments of a lease begin with. */
    static String segments(long lease) {
        return LOG + digits(lease) + "/";
    }

    /** Returns the lease and the number of a log segment; null if it is no name of one. */
    static long @Nullable [] segmentOf(String name) {
        Matcher matcher = SEGMENT.matcher(name);
        return matcher.matches() ? new long[] {number(matcher.group(1)), number(matcher.group(2))} : null;
    }

    /** Returns whether it is the name of a log segment, and not one that somebody else has put there. */
    static boolean isSegment(String name) {
        return segmentOf(name) != null;
    }

    /**
     * Returns the name of a file of checkpoints.
     *
     * @param name the same for equal files of one lease, and no others
     */
    static String file(long lease, String name) {
        return FILES + digits(lease) + "-" + name;
    }

    static boolean isFile(String name) {
        return FILE.matcher(name).matches();
    }

    /** Returns the name of a checkpoint. The order of names is that of the chain. */
    static String checkpoint(Checkpoint checkpoint) {
        ChainPoint point = checkpoint.point();
        return CHECKPOINTS + digits(point.number()) + "-" + digits(point.owner().lease()) + "-"
                + digits(checkpoint.sequence()) + (checkpoint.isAhead() ? "-ahead" : "");
    }

    static boolean isCheckpoint(String name) {
        return CHECKPOINT.matcher(name).matches();
    }

    private static String digits(long number) {
        return String.format(Locale.ROOT, "%016x", number);
    }

    private static long number(String digits) {
        return Long.parseUnsignedLong(digits, 16);
    }
}
