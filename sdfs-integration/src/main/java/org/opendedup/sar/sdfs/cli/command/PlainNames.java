package org.opendedup.sar.sdfs.cli.command;

/** Checks file names, which the commands handle as text. */
public final class PlainNames {
    /** The character that Java puts in place of bytes that are not UTF-8. The resulting name is a different one. */
    static final char UNREADABLE = '\uFFFD';

    private PlainNames() {}

    /** Returns whether a path can be passed on as text. */
    public static boolean isText(Object path) {
        return path.toString().indexOf(UNREADABLE) < 0;
    }
}
