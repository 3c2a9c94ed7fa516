package org.opendedup.sar.sdfs.cli.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The user who runs this process. */
public final class CallingUser {
    private CallingUser() {}

    public static boolean isRoot() throws IOException {
        return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    }
}
