package org.opendedup.sar.model;

/** The file types of {@code st_mode}. */
public final class Modes {
    public static final int TYPE = 0170000;
    public static final int REGULAR = 0100000;
    public static final int DIRECTORY = 0040000;
    public static final int SYMBOLIC_LINK = 0120000;
    public static final int FIFO = 0010000;
    public static final int CHARACTER_DEVICE = 0020000;

    private Modes() {}

    public static boolean isRegular(int mode) {
        return (mode & TYPE) == REGULAR;
    }

    public static boolean isDirectory(int mode) {
        return (mode & TYPE) == DIRECTORY;
    }
}
