package org.opendedup.sar.sdfs.fuse;

import org.opendedup.sar.volume.Attributes;
import org.opendedup.sar.volume.Owner;

/** {@code st_mode}: its bits, and the rules POSIX and Linux tie to them. */
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
     * The mode a file keeps when an unprivileged process writes or truncates it, or when anyone changes its owner:
     * without setuid, and without setgid. Directories keep all.
     *
     * @param keepsSetGid whether setgid stays where the group may not execute the file (it once meant mandatory locking)
     */
    public static int withoutSetId(int mode, boolean keepsSetGid) {
        if (isDirectory(mode)) {
            return mode;
        }
        boolean setGidStays = keepsSetGid && (mode & GROUP_EXECUTE) == 0;
        return mode & ~(setGidStays ? SETUID : SETUID | SETGID);
    }

    /** Who owns what {@code caller} makes in a directory: a setgid directory gives its group on. */
    public static Owner ownerIn(Attributes directory, Owner caller) {
        return (directory.mode() & SETGID) != 0 ? new Owner(caller.uid(), directory.gid(), caller.umask()) : caller;
    }

    /** The mode of a directory made in {@code parent}: setgid is inherited. */
    public static int directoryModeIn(Attributes parent, int mode) {
        return mode | (parent.mode() & SETGID);
    }
}
