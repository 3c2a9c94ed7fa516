package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.io.handle.Handle;
import org.opendedup.sar.metadata.record.EntryNames;

/**
 * Makes symbolic links and nodes, and classifies failures that mean that the destination does not support an operation.
 */
final class NewEntry {
    private NewEntry() {}

    /** Makes a symbolic link, device, fifo or socket; returns the C library's result. */
    static int make(Libc posix, Handle folder, byte[] name, TreeEntry entry) {
        byte[] terminated = Libc.terminated(name);
        return entry.isSymbolicLink()
                ? posix.functions().symlinkat(Libc.terminated(entry.target()), folder.fd(), terminated)
                : posix.functions()
                        .mknodat(folder.fd(), terminated, entry.mode(), Integer.toUnsignedLong(entry.device()));
    }

    /**
     * Returns whether a call failed because the file system, or the rights of this user, do not allow the operation;
     * the rest of the restore can continue.
     */
    static boolean isRefusal(int errno) {
        return switch (errno) {
            case Errno.EPERM,
                    Errno.EACCES,
                    Errno.EXDEV,
                    Errno.EINVAL,
                    Errno.E2BIG,
                    Errno.ERANGE,
                    Errno.EMLINK,
                    Errno.ENAMETOOLONG,
                    Errno.EOVERFLOW,
                    Errno.EILSEQ,
                    Errno.ENOSYS,
                    Errno.EOPNOTSUPP -> true;
            default -> false;
        };
    }

    /**
     * Returns the name of an entry, for use in its folder.
     *
     * @throws CorruptionException if the name would lead out of the folder
     */
    static byte[] name(TreeEntry entry) throws IOException {
        byte[] name = entry.name();
        if (!EntryNames.isValid(name)) {
            throw new CorruptionException(
                    "inode " + entry.inode(), -1, "a name in a folder", "'" + EntryNames.text(name) + "'");
        }
        return name;
    }
}
