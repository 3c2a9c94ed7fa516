package org.opendedup.sar.sdfs.restore;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Iterator;
import java.util.List;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.io.Libc;

/**
 * Opens folders at any depth below an open folder. Follows no symbolic link and enters no other file system.
 *
 * <p>The kernel (5.6 and later) does this in one call, openat2. If that call is missing, or a container's filter
 * forbids it, the names are opened one by one.
 */
final class Descent {
    private static final int FLAGS = Libc.O_RDONLY | Libc.O_DIRECTORY | Libc.O_NOFOLLOW | Libc.O_CLOEXEC;
    /** The system call number of openat2 on all architectures. */
    private static final int OPENAT2 = 437;
    /** RESOLVE_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS and _BENEATH. */
    private static final long RESOLVE = 1 | 2 | 4 | 8;
    /** {@code sizeof(struct open_how)}: flags, mode, resolve. */
    private static final int HOW_BYTES = 3 * Long.BYTES;
    /** PATH_MAX without the terminating zero, in bytes. */
    private static final int MAX_PATH_BYTES = 4095;

    private final Libc posix;
    private final byte[] how;
    private final boolean hasOpenat2;

    Descent(Libc posix) {
        this.posix = posix;
        how = ByteBuffer.allocate(HOW_BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(FLAGS)
                .putLong(0)
                .putLong(RESOLVE)
                .array();
        int fd = openat2(Libc.AT_FDCWD, new byte[] {'.', 0});
        hasOpenat2 = fd >= 0 || Libc.errno() != Errno.ENOSYS && Libc.errno() != Errno.EPERM;
        if (fd >= 0) {
            posix.functions().close(fd);
        }
    }

    private int openat2(int folder, byte[] path) {
        return (int) posix.functions().syscall(OPENAT2, folder, path, how, HOW_BYTES);
    }

    /** Returns the number of names, from the first one, that {@link #open} accepts in one call. */
    int count(List<byte[]> names) {
        int bytes = 0;
        int count = 0;
        for (byte[] name : names) {
            bytes += name.length + 1;
            if (bytes > MAX_PATH_BYTES + 1) {
                break;
            }
            count++;
        }
        return count;
    }

    /**
     * Opens the last of these names; each name is in the folder before it.
     *
     * @return its descriptor; negative if that fails
     */
    int open(int folder, List<byte[]> names) {
        return hasOpenat2 ? openat2(folder, path(names)) : step(folder, names);
    }

    private static byte[] path(List<byte[]> names) {
        ByteArrayOutputStream path = new ByteArrayOutputStream();
        for (byte[] name : names) {
            if (path.size() > 0) {
                path.write('/');
            }
            path.writeBytes(name);
        }
        path.write(0);
        return path.toByteArray();
    }

    private int step(int folder, List<byte[]> names) {
        int at = folder;
        for (Iterator<byte[]> rest = names.iterator(); rest.hasNext(); ) {
            int next = posix.functions().openat(at, Libc.terminated(rest.next()), FLAGS, 0);
            int errno = Libc.errno();
            if (at != folder) {
                posix.functions().close(at);
            }
            if (next < 0) {
                Libc.setErrno(errno);
                return next;
            }
            at = next;
        }
        return at;
    }
}
