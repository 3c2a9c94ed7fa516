package org.opendedup.sar.io.handle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Finds the mount of an open entry and the mount's owner. The server of a FUSE file system can report any owner, mode
 * and inode number, and sees all bytes, so such a mount must belong to root or to the user. An open file keeps its
 * mount, so the mount's number cannot be reused meanwhile.
 */
public final class Mounts {
    private static final String ID = "mnt_id:";
    private static final String USER = "user_id=";
    private static final int ROOT = 0;

    private Mounts() {}

    /** Returns the number of the mount that contains an open entry. */
    public static long id(Handle handle) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/fdinfo/" + handle.fd()))) {
            if (line.startsWith(ID)) {
                return Long.parseLong(line.substring(ID.length()).strip());
            }
        }
        throw new IOException("the kernel does not report the mount that contains " + handle);
    }

    /** @throws IOException if an open entry is in the FUSE mount of a user who is neither root nor this one */
    public static void checkTrusted(Handle handle, int user) throws IOException {
        checkTrusted(MountTable.read(), id(handle), user, handle.toString());
    }

    static void checkTrusted(MountTable table, long id, int user, String shown) throws IOException {
        MountTable.Entry mount = table.withId(id)
                .orElseThrow(() -> new IOException(shown + " lies in a file system that is mounted nowhere any more"));
        if (!mount.type().startsWith("fuse")) {
            return;
        }
        List<String> trusted = List.of(USER + ROOT, USER + Integer.toUnsignedString(user));
        for (String option : mount.options()) {
            if (option.startsWith(USER) && !trusted.contains(option)) {
                throw new IOException(shown + " lies in a file system that user " + option.substring(USER.length())
                        + " has mounted; it is not trusted");
            }
        }
    }
}
