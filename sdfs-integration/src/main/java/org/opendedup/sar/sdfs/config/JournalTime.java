package org.opendedup.sar.sdfs.config;

/** The time after which a raw file at rest is also stored in chunks, as text: a number of seconds, or {@code off}. */
public final class JournalTime {
    /** The allowed values, for messages. */
    public static final String ALLOWED = "a number of seconds from 1 to 2147483647, or off";

    private static final String OFF = "off";

    private JournalTime() {}

    /**
     * Returns the seconds; 0 for off.
     *
     * @throws IllegalArgumentException if the text is no allowed value; the message names them
     */
    public static int parse(String text) {
        if (text.equals(OFF)) {
            return 0;
        }
        // Integer.parseInt also takes a sign, and digits of other scripts.
        if (!text.matches("[0-9]{1,10}")) {
            throw wrong(text);
        }
        long seconds = Long.parseLong(text);
        if (seconds < 1 || seconds > Integer.MAX_VALUE) {
            throw wrong(text);
        }
        return (int) seconds;
    }

    private static IllegalArgumentException wrong(String text) {
        return new IllegalArgumentException("'" + text + "' is not " + ALLOWED);
    }

    /** Returns the text of a number of seconds. */
    public static String text(int seconds) {
        return seconds == 0 ? OFF : Integer.toString(seconds);
    }
}
