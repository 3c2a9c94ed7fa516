package org.opendedup.sar.sdfs.fuse;

import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;

/** Bits of {@code st_mode}, and the rules of POSIX and Linux for them. */
public final class FileMode {
    public static final int TYPE_MASK = 0170000;
    public static final int DIRECTORY = 0040000;
    public static final int REGULAR = 0100000;
    public static final int SYMBOLIC_LINK = 0120000;
    public static final int PERMISSIONS = 07777;
    public static final int SETUID = 04000;
    public static final int SETGID = 02000;
    public static final int GROUP_EXECUTE = 00010;

    private FileMode() {}

    public static boolean isDirectory(int mode) {
        return (mode & TYPE_MASK) == DIRECTORY;
    }

    public static boolean isRegular(int mode) {
        return (mode & TYPE_MASK) == REGULAR;
    }

    /**
     * Returns the mode of a file after an unprivileged process wrote or truncated it, or after any process changed its
     * owner: without setuid and setgid. A directory keeps its whole mode.
     *
     * @param keepsSetGid true: setgid stays if the group may not execute the file (this combination once meant
     *     mandatory locking)
     */
    public static int withoutSetId(int mode, boolean keepsSetGid) {
        if (isDirectory(mode)) {
            return mode;
        }
        boolean setGidStays = keepsSetGid && (mode & GROUP_EXECUTE) == 0;
        return mode & ~(setGidStays ? SETUID : SETUID | SETGID);
    }

    /**
     * Returns the owner of a file that {@code caller} makes in a directory. The file inherits the group of a setgid
     * directory.
     */
    public static Owner ownerIn(Attributes directory, Owner caller) {
        return (directory.mode() & SETGID) != 0 ? new Owner(caller.uid(), directory.gid(), caller.umask()) : caller;
    }

    /** Returns the mode of a directory made in {@code parent}: setgid is inherited. */
    public static int directoryModeIn(Attributes parent, int mode) {
        return mode | (parent.mode() & SETGID);
    }
}
