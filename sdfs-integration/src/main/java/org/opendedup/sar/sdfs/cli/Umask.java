package org.opendedup.sar.sdfs.cli;

import jnr.ffi.LibraryLoader;

/** The permissions that this process, with its libraries, never gives to the files it makes. */
final class Umask {
    private static final int OWNER_ONLY = 077;

    private Umask() {}

    /**
     * Other users get no permissions. The modes of files in a volume do not depend on it: the kernel sends them with its requests. Nor do those
     * of restored files: a restore sets them after it has made the files.
     */
    static void ownerOnly() {
        LibraryLoader.create(Functions.class).load("c").umask(OWNER_ONLY);
    }

    /** As the manual pages say. */
    public interface Functions {
        int umask(int mask);
    }
}
