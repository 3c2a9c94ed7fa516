package org.opendedup.sar.sdfs.cli;

/** Names of files, as the commands take them: as text. */
final class PlainNames {
    /** What Java makes of bytes that are no UTF-8. The name that it then has is another one. */
    static final char UNREADABLE = '\uFFFD';

    private PlainNames() {}

    /** Whether a path can be handed on as text. */
    static boolean isText(Object path) {
        return path.toString().indexOf(UNREADABLE) < 0;
    }
}
