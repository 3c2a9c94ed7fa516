package org.opendedup.sar.sdfs.restore;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * An open file, folder or other thing, to which it leads wherever its names are moved or whatever takes their place. What is done to it
 * or to a name in it is done through its descriptor. Calls whose failure the caller judges return the C library's result.
 */
final class Handle implements Closeable {
    private static final byte[] SELF = {0};
    private static final int CLOSED = -1;

    private final PosixCalls posix;
    private final String shown;
    /** Whether it only names its file: O_PATH. Such a one is reached through /proc, which leads to it and to nothing else. */
    private final boolean namesOnly;

    private int fd;

    /** @param shown the path for messages */
    Handle(PosixCalls posix, int fd, boolean namesOnly, String shown) {
        this.posix = posix;
        this.fd = fd;
        this.namesOnly = namesOnly;
        this.shown = shown;
    }

    /** Opens a name in a folder; null if that fails. A symbolic link is not followed. */
    static @Nullable Handle at(PosixCalls posix, int folder, byte[] name, int flags, int mode, String shown) {
        int all = flags | PosixCalls.O_NOFOLLOW | PosixCalls.O_CLOEXEC;
        int fd = posix.functions().openat(folder, PosixCalls.terminated(name), all, mode);
        return fd < 0 ? null : new Handle(posix, fd, (flags & PosixCalls.O_PATH) != 0, shown);
    }

    /** As above, a name in this folder. */
    @Nullable
    Handle at(byte[] name, int flags, int mode, String path) {
        return at(posix, fd, name, flags, mode, path);
    }

    /** As above, where it must be there. */
    Handle opened(byte[] name, int flags, String path) throws IOException {
        return opened(name, flags, 0, path);
    }

    /** As above, where it must be there or be made. */
    Handle opened(byte[] name, int flags, int mode, String path) throws IOException {
        Handle handle = at(name, flags, mode, path);
        if (handle == null) {
            throw posix.failure((flags & PosixCalls.O_CREAT) == 0 ? "opening" : "making", path);
        }
        return handle;
    }

    /** What must hold of something before it is used. */
    @FunctionalInterface
    interface Check {
        void of(Handle handle) throws IOException;
    }

    /** Hands this on if a check lets it, and else closes it. */
    Handle verified(Check check) throws IOException {
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

    /** Just names a thing in this folder, of any kind, without opening it; null if there is none. */
    @Nullable
    Handle named(byte[] name, String path) throws IOException {
        Handle handle = at(name, PosixCalls.O_PATH, 0, path);
        if (handle == null && posix.errno() != PosixCalls.ENOENT) {
            throw posix.failure("opening", path);
        }
        return handle;
    }

    int fd() {
        return fd;
    }

    /** A path that leads to what is open, and not by its names; what is appended to it is a name in it. For calls of the JDK. */
    Path path() {
        return Path.of("/proc/self/fd/" + fd);
    }

    private byte[] procPath() {
        return PosixCalls.terminated(path().toString().getBytes(StandardCharsets.US_ASCII));
    }

    FileStatus status() throws IOException {
        FileStatus status = statusAt(SELF, PosixCalls.AT_EMPTY_PATH);
        if (status == null) {
            throw posix.failure("looking at", shown);
        }
        return status;
    }

    /** Of a name in this folder; null if there is none. */
    @Nullable
    FileStatus statusOf(byte[] name, String path) throws IOException {
        FileStatus status = statusAt(PosixCalls.terminated(name), PosixCalls.AT_SYMLINK_NOFOLLOW);
        if (status == null && posix.errno() != PosixCalls.ENOENT) {
            throw posix.failure("looking at", path);
        }
        return status;
    }

    private @Nullable FileStatus statusAt(byte[] name, int flags) {
        byte[] status = new byte[FileStatus.BYTES];
        int result = posix.functions().statx(fd, name, flags, FileStatus.BASIC, status);
        return result == 0 ? FileStatus.decode(status) : null;
    }

    /** Changes owner and group; -1 leaves one as it is. */
    int changeOwner(int uid, int gid) {
        return namesOnly
                ? posix.functions().fchownat(fd, SELF, uid, gid, PosixCalls.AT_EMPTY_PATH)
                : posix.functions().fchown(fd, uid, gid);
    }

    int changeMode(int mode) {
        return namesOnly
                ? posix.functions().chmod(procPath(), mode)
                : posix.functions().fchmod(fd, mode);
    }

    int setAttribute(byte[] name, byte[] value) {
        byte[] terminated = PosixCalls.terminated(name);
        return namesOnly
                ? posix.functions().setxattr(procPath(), terminated, value, value.length, 0)
                : posix.functions().fsetxattr(fd, terminated, value, value.length, 0);
    }

    /** Takes the access lists away that it has of the folder above it. A file system that knows none refuses, which is as well. */
    void removeAccessLists() {
        for (String list : new String[] {"system.posix_acl_default", "system.posix_acl_access"}) {
            posix.functions().fremovexattr(fd, PosixCalls.terminated(list.getBytes(StandardCharsets.US_ASCII)));
        }
    }

    /** @param times seconds and nanoseconds of the last access, then of the last change */
    int setTimes(long[] times) {
        return namesOnly
                ? posix.functions().utimensat(PosixCalls.AT_FDCWD, procPath(), times, 0)
                : posix.functions().futimens(fd, times);
    }

    /** Gives it another name. */
    int link(Handle folder, byte[] name) {
        return posix.functions()
                .linkat(
                        PosixCalls.AT_FDCWD,
                        procPath(),
                        folder.fd,
                        PosixCalls.terminated(name),
                        PosixCalls.AT_SYMLINK_FOLLOW);
    }

    /** Makes everything of its file system durable; false: it only names its file, and cannot. */
    boolean syncFileSystem() throws IOException {
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
