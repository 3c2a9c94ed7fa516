package org.opendedup.sar.volume;

/** The file types in {@code st_mode}, as Linux numbers them. */
final class Modes {
    static final int TYPE = 0170000;
    static final int DIRECTORY = 0040000;
    static final int REGULAR = 0100000;
    static final int SYMBOLIC_LINK = 0120000;
    static final int PERMISSIONS = 07777;

    private Modes() {}
}
