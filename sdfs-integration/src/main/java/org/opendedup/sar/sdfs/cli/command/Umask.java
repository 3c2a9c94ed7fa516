package org.opendedup.sar.sdfs.cli.command;

import jnr.ffi.LibraryLoader;

/** The permissions that this process, including its libraries, never sets on the files it makes. */
public final class Umask {
    private static final int OWNER_ONLY = 077;

    private Umask() {}

    /**
     * Removes all permissions of other users. The modes of files in a volume do not depend on the umask, because the
     * kernel sends them with its requests. The modes of restored files do not either: a restore sets them after it has
     * made the files.
     */
    public static void ownerOnly() {
        LibraryLoader.create(Functions.class).load("c").umask(OWNER_ONLY);
    }

    /** The C functions, as described in their manual pages. */
    public interface Functions {
        int umask(int mask);
    }
}
