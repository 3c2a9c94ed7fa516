package org.opendedup.sar.sdfs.cli;

import jnr.ffi.LibraryLoader;

/** What other users get of the files that this process makes, by libraries too. */
final class Umask {
    private static final int OWNER_ONLY = 077;

    private Umask() {}

    /**
     * Nothing. Modes of files in a volume do not depend on it: the kernel gives them with the requests, and a restore sets them when it has
     * made the files.
     */
    static void ownerOnly() {
        LibraryLoader.create(Functions.class).load("c").umask(OWNER_ONLY);
    }

    /** As the manual pages say. */
    public interface Functions {
        int umask(int mask);
    }
}
