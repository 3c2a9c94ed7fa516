package org.opendedup.sar.common;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Finds out where the process's messages are written to. */
public final class Terminal {
    private static final Path MESSAGES = Path.of("/proc/self/fd/2");

    private Terminal() {}

    /** Returns whether the error stream is a terminal; false on a system without /proc. */
    public static boolean showsMessages() {
        try {
            String file = Files.readSymbolicLink(MESSAGES).toString();
            return file.startsWith("/dev/pts/") || file.startsWith("/dev/tty") || file.equals("/dev/console");
        } catch (IOException e) {
            return false;
        }
    }
}
