package org.opendedup.sar.io.handle;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.opendedup.sar.io.Libc;

/**
 * The user who writes, as the file system of a folder reports it. That is the process's user, except on a network file
 * system that maps root to nobody.
 */
public final class Writer {
    private static final int FLAGS = Libc.O_WRONLY | Libc.O_CREAT | Libc.O_EXCL;

    private Writer() {}

    /** Returns the owner of new files in a folder. If the folder has another owner, makes a file to find out. */
    public static int in(Libc posix, Handle folder) throws IOException {
        int user = posix.functions().geteuid();
        if (folder.status().uid() == user) {
            return user;
        }
        byte[] name = (".sdfs-restore-" + UUID.randomUUID()).getBytes(StandardCharsets.US_ASCII);
        try (Handle probe = folder.at(name, FLAGS, 0600, folder.toString())) {
            if (probe == null) {
                return user;
            }
            posix.functions().unlinkat(folder.fd(), Libc.terminated(name), 0);
            return probe.status().uid();
        }
    }
}
