package org.opendedup.sar.metadata.record;

/** The file types in {@code st_mode}, as Linux numbers them. */
public final class Modes {
    public static final int TYPE = 0170000;
    public static final int DIRECTORY = 0040000;
    public static final int REGULAR = 0100000;
    public static final int SYMBOLIC_LINK = 0120000;
    public static final int FIFO = 0010000;
    public static final int SOCKET = 0140000;
    public static final int CHARACTER_DEVICE = 0020000;
    public static final int BLOCK_DEVICE = 0060000;
    public static final int PERMISSIONS = 07777;

    private Modes() {}

    /** Returns whether a mode, or the type in it, is that of a directory. */
    public static boolean isDirectory(int mode) {
        return (mode & TYPE) == DIRECTORY;
    }
}
