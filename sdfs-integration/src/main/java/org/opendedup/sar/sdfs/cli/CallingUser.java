package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Who runs this process. */
final class CallingUser {
    private CallingUser() {}

    static boolean isRoot() throws IOException {
        return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    }
}
