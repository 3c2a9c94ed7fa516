package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * The user who writes, as the file system of a folder knows it. That is the process's user, but on a network file system that takes
 * root for nobody.
 */
final class Writer {
    private static final int FLAGS = PosixCalls.O_WRONLY | PosixCalls.O_CREAT | PosixCalls.O_EXCL;

    private Writer() {}

    /** The owner of what is made in a folder: a file is, if the folder is somebody else's. */
    static int in(PosixCalls posix, Handle folder) throws IOException {
        int user = posix.functions().geteuid();
        if (folder.status().uid() == user) {
            return user;
        }
        byte[] name = (".sdfs-restore-" + UUID.randomUUID()).getBytes(StandardCharsets.US_ASCII);
        try (Handle probe = folder.at(name, FLAGS, 0600, folder.toString())) {
            if (probe == null) {
                return user;
            }
            posix.functions().unlinkat(folder.fd(), PosixCalls.terminated(name), 0);
            return probe.status().uid();
        }
    }
}
