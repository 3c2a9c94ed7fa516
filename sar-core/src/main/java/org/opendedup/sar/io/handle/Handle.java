package org.opendedup.sar.io.handle;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.Libc;

/**
 * An open file, folder or other entry. The handle refers to the same entry even if its names are moved or replaced.
 * Every operation on it, or on a name in it, uses its descriptor. Calls whose failure the caller handles return the C
 * library's result.
 */
public final class Handle implements Closeable {
    private static final byte[] SELF = {0};
    private static final int CLOSED = -1;

    private final Libc posix;
    private final String shown;
    /**
     * Whether the descriptor only names its file: O_PATH. Operations on such a file use its path in /proc, which always
     * leads to the same file.
     */
    private final boolean namesOnly;

    private int fd;

    /** @param shown path for messages */
    public Handle(Libc posix, int fd, boolean namesOnly, String shown) {
        this.posix = posix;
        this.fd = fd;
        this.namesOnly = namesOnly;
        this.shown = shown;
    }

    /** Opens a name in a folder; null if that fails. Does not follow a symbolic link. */
    public static @Nullable Handle at(Libc posix, int folder, byte[] name, int flags, int mode, String shown) {
        int all = flags | Libc.O_NOFOLLOW | Libc.O_CLOEXEC;
        int fd = posix.functions().openat(folder, Libc.terminated(name), all, mode);
        return fd < 0 ? null : new Handle(posix, fd, (flags & Libc.O_PATH) != 0, shown);
    }

    /** Opens a name in this folder; null if that fails. */
    @Nullable
    public Handle at(byte[] name, int flags, int mode, String path) {
        return at(posix, fd, name, flags, mode, path);
    }

    /** Opens a name in this folder, which must exist. */
    public Handle opened(byte[] name, int flags, String path) throws IOException {
        return opened(name, flags, 0, path);
    }

    /** Opens a name in this folder, which must exist or be made. */
    public Handle opened(byte[] name, int flags, int mode, String path) throws IOException {
        Handle handle = at(name, flags, mode, path);
        if (handle == null) {
            throw posix.failure((flags & Libc.O_CREAT) == 0 ? "opening" : "making", path);
        }
        return handle;
    }

    /** A condition that must hold before a handle is used. */
    @FunctionalInterface
    public interface Check {
        void of(Handle handle) throws IOException;
    }

    /** Returns this handle if the check passes; otherwise closes it. */
    public Handle verified(Check check) throws IOException {
        boolean isVerified = false;
        try {
            check.of(this);
            isVerified = true;
            return this;
        } finally {
            if (!isVerified) {
                close();
            }
        }
    }

    /** Names an entry of any kind in this folder without opening it; null if there is none. */
    @Nullable
    public Handle named(byte[] name, String path) throws IOException {
        Handle handle = at(name, Libc.O_PATH, 0, path);
        if (handle == null && !Libc.isAbsence()) {
            throw posix.failure("opening", path);
        }
        return handle;
    }

    public int fd() {
        return fd;
    }

    /**
     * Returns a path to the open entry that does not depend on its names; a name appended to it is a name in this
     * folder. For calls of the JDK.
     */
    public Path path() {
        return Path.of("/proc/self/fd/" + fd);
    }

    private byte[] procPath() {
        return Libc.terminated(path().toString().getBytes(StandardCharsets.US_ASCII));
    }

    public FileStatus status() throws IOException {
        FileStatus status = statusAt(SELF, Libc.AT_EMPTY_PATH);
        if (status == null) {
            throw posix.failure("looking at", shown);
        }
        return status;
    }

    /** Returns the status of a name in this folder; null if there is none. */
    @Nullable
    public FileStatus statusOf(byte[] name, String path) throws IOException {
        FileStatus status = statusAt(Libc.terminated(name), Libc.AT_SYMLINK_NOFOLLOW);
        if (status == null && !Libc.isAbsence()) {
            throw posix.failure("looking at", path);
        }
        return status;
    }

    private @Nullable FileStatus statusAt(byte[] name, int flags) {
        byte[] status = new byte[FileStatus.BYTES];
        int result = posix.functions().statx(fd, name, flags, FileStatus.BASIC, status);
        return result == 0 ? FileStatus.decode(status) : null;
    }

    /** Changes owner and group; -1 leaves the value unchanged. */
    public int changeOwner(int uid, int gid) {
        return namesOnly
                ? posix.functions().fchownat(fd, SELF, uid, gid, Libc.AT_EMPTY_PATH)
                : posix.functions().fchown(fd, uid, gid);
    }

    public int changeMode(int mode) {
        return namesOnly
                ? posix.functions().chmod(procPath(), mode)
                : posix.functions().fchmod(fd, mode);
    }

    public int setAttribute(byte[] name, byte[] value) {
        byte[] terminated = Libc.terminated(name);
        return namesOnly
                ? posix.functions().setxattr(procPath(), terminated, value, value.length, 0)
                : posix.functions().fsetxattr(fd, terminated, value, value.length, 0);
    }

    /**
     * Removes the access lists that it inherited from the folder above it. A file system without access lists refuses
     * this, which does no harm.
     */
    public void removeAccessLists() {
        for (String list : new String[] {"system.posix_acl_default", "system.posix_acl_access"}) {
            posix.functions().fremovexattr(fd, Libc.terminated(list.getBytes(StandardCharsets.US_ASCII)));
        }
    }

    /** @param times seconds and nanoseconds of the last access, then of the last change */
    public int setTimes(long[] times) {
        return namesOnly
                ? posix.functions().utimensat(Libc.AT_FDCWD, procPath(), times, 0)
                : posix.functions().futimens(fd, times);
    }

    /** Adds another name. */
    public int link(Handle folder, byte[] name) {
        return posix.functions()
                .linkat(Libc.AT_FDCWD, procPath(), folder.fd, Libc.terminated(name), Libc.AT_SYMLINK_FOLLOW);
    }

    /** Makes everything in its file system durable. Returns false if it cannot, because it only names its file. */
    public boolean syncFileSystem() throws IOException {
        if (namesOnly) {
            return false;
        }
        if (posix.functions().syncfs(fd) != 0) {
            throw posix.failure("syncing", shown);
        }
        return true;
    }

    @Override
    public String toString() {
        return shown;
    }

    @Override
    public void close() {
        if (fd != CLOSED) {
            posix.functions().close(fd);
            fd = CLOSED;
        }
    }
}
