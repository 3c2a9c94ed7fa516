package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;

/**
 * A file that is read and written at any offset, through the C library: its descriptor can be passed to the kernel, and
 * its calls are those of a POSIX file. Safe for use by many threads; {@link #close} only when no call runs.
 */
public final class PosixFile implements RandomFile {

    /** Modes of fallocate(2). */
    private static final int KEEP_SIZE = 1;

    private static final int PUNCH_HOLE = 2;
    private static final int ZERO_RANGE = 0x10;

    /** SEEK_DATA and SEEK_HOLE of lseek(2). */
    private static final int SEEK_DATA = 3;

    private static final int SEEK_HOLE = 4;

    /** Commands of fcntl(2), types of leases, and the signal that a broken lease sends: one that is ignored. */
    private static final int F_SETSIG = 10;

    private static final int F_SETLEASE = 1024;
    private static final int F_RDLCK = 0;
    private static final int F_WRLCK = 1;
    private static final int F_UNLCK = 2;
    private static final int SIGURG = 23;

    /** MFD_CLOEXEC of memfd_create(2). */
    private static final int CLOSE_ON_EXEC = 1;

    /** UTIME_OMIT of utimensat(2): a time stays as it is. */
    private static final long OMIT = (1L << 30) - 2;

    private static final long NS_PER_S = 1_000_000_000;

    private final Libc.Functions libc;
    private final int number;
    private final Path path;
    private final boolean isForReading;

    private PosixFile(Libc.Functions libc, int number, Path path, boolean isForReading) {
        this.libc = libc;
        this.number = number;
        this.path = path;
        this.isForReading = isForReading;
    }

    /** Returns whether this machine has what the class needs. */
    public static boolean isSupported() {
        return Libc.loaded() != null;
    }

    /** Opens an existing file or folder. */
    private static PosixFile open(Path path, int flags) throws IOException {
        Libc.Functions libc = libc(path);
        return opened(libc, Libc.open(libc, path, flags), path, flags);
    }

    /** Makes a file without a name in the machine's memory; null if that fails. */
    static @Nullable PosixFile inMemory() {
        Libc.Functions libc = Libc.loaded();
        try {
            Path name = Path.of("times");
            int number = libc == null ? -1 : libc.memfd_create(Libc.path(name), CLOSE_ON_EXEC);
            return libc == null || number < 0 ? null : new PosixFile(libc, number, name, false);
        } catch (UnsatisfiedLinkError older) {
            return null; // The C library is older than 2018.
        }
    }

    /** Opens, or makes, a file below a folder of which the caller has a descriptor; {@code path} is for messages. */
    static PosixFile openAt(Libc.Functions libc, int folder, Path name, Path path, int flags) throws IOException {
        return opened(libc, Libc.openAt(libc, folder, name, flags), path, flags);
    }

    static Libc.Functions libc(Path path) throws IOException {
        Libc.Functions libc = Libc.loaded();
        if (libc == null) {
            throw new IOException(path + " cannot be opened: the C library cannot be called");
        }
        return libc;
    }

    private static PosixFile opened(Libc.Functions libc, int number, Path path, int flags) throws IOException {
        if (number >= 0) {
            return new PosixFile(libc, number, path, (flags & Libc.O_RDWR) == 0);
        }
        int errno = Libc.errno();
        if (errno == Errno.ENOENT) {
            throw new NoSuchFileException(path.toString());
        }
        if (errno == Errno.EEXIST) {
            throw new FileAlreadyExistsException(path.toString());
        }
        throw failure(path, "cannot be opened", errno);
    }

    static IOException failure(Path path, String what, int errno) {
        String message = path + " " + what + ": " + SystemError.words(errno);
        if (SystemError.isFull(errno)) {
            return new NoSpaceException(message);
        }
        return switch (errno) {
            case Errno.EFBIG -> new PosixException(Reason.EFBIG, message);
            case Errno.EINVAL -> new PosixException(Reason.EINVAL, message);
            case Errno.ENXIO -> new PosixException(Reason.ENXIO, message);
            case Errno.EOPNOTSUPP -> new PosixException(Reason.EOPNOTSUPP, message);
            case Errno.EROFS -> new PosixException(Reason.EROFS, message);
            default -> new IOException(message);
        };
    }

    private IOException failure(String what) {
        return failure(path, what, Libc.errno());
    }

    /** A system call that returns a negative number on failure. */
    @FunctionalInterface
    private interface Call {
        long run();
    }

    /** Makes a call that changes the file. EROFS if it is open for reading only. */
    private long change(String what, Call call) throws IOException {
        if (isForReading) {
            throw failure(path, what, Errno.EROFS);
        }
        return run(what, call);
    }

    /** Makes a call, again if a signal interrupts it. */
    private long run(String what, Call call) throws IOException {
        while (true) {
            long result = call.run();
            if (result >= 0) {
                return result;
            }
            if (Libc.errno() != Errno.EINTR) {
                throw failure(what);
            }
        }
    }

    @Override
    public int descriptor() {
        return number;
    }

    @Override
    public int read(long offset, ByteBuffer target) throws IOException {
        int done = 0;
        while (target.hasRemaining()) {
            long at = offset + done;
            int count = (int) run("cannot be read", () -> libc.pread(number, target, target.remaining(), at));
            if (count == 0) {
                break;
            }
            target.position(target.position() + count);
            done += count;
        }
        return done;
    }

    @Override
    public void write(long offset, ByteBuffer source) throws IOException {
        long at = offset - source.position();
        while (source.hasRemaining()) {
            long place = at + source.position();
            int count = (int) change("cannot be written", () -> libc.pwrite(number, source, source.remaining(), place));
            source.position(source.position() + count);
        }
    }

    @Override
    public void truncate(long size) throws IOException {
        change("cannot be truncated", () -> libc.ftruncate(number, size));
    }

    @Override
    public void allocate(long offset, long length, boolean keepSize) throws IOException {
        change("cannot be allocated", () -> libc.fallocate(number, keepSize ? KEEP_SIZE : 0, offset, length));
    }

    @Override
    public void zero(long offset, long length, boolean keepSize) throws IOException {
        int mode = keepSize ? PUNCH_HOLE | KEEP_SIZE : ZERO_RANGE;
        change("cannot be zeroed", () -> libc.fallocate(number, mode, offset, length));
    }

    @Override
    public long seekData(long offset) throws IOException {
        return run("has no such offset", () -> libc.lseek(number, offset, SEEK_DATA));
    }

    @Override
    public long seekHole(long offset) throws IOException {
        return run("has no such offset", () -> libc.lseek(number, offset, SEEK_HOLE));
    }

    @Override
    public void force() throws IOException {
        run("cannot be written to its device", () -> libc.fdatasync(number));
    }

    /** Makes everything durable that was written to the file system of an existing file or folder. */
    public static void forceFileSystem(Path path) throws IOException {
        try (PosixFile file = open(path, Libc.O_RDONLY)) {
            file.forceFileSystem();
        }
    }

    void forceFileSystem() throws IOException {
        run("is on a file system that cannot be written to its device", () -> libc.syncfs(number));
    }

    /** Opens a folder, so that its file system cannot be unmounted before {@link #close}. */
    static PosixFile openFolder(Path path) throws IOException {
        return open(path, Libc.O_RDONLY);
    }

    @Override
    public void setModified(long ns) throws IOException {
        long[] times = {0, OMIT, Math.floorDiv(ns, NS_PER_S), Math.floorMod(ns, NS_PER_S)};
        run("cannot get a time", () -> libc.futimens(number, times));
    }

    void setModifiedNow() throws IOException {
        run("cannot get the time", () -> libc.futimens(number, null));
    }

    @Override
    public Status status() throws IOException {
        Status status = Statx.of(libc, number);
        if (status == null) {
            throw failure("cannot be examined");
        }
        return status;
    }

    /** Returns the status of a file below a folder; null if it does not exist. {@code path} is for messages. */
    static @Nullable Status statusAt(Libc.Functions libc, int folder, Path name, Path path) throws IOException {
        Status status = Statx.of(libc, folder, Libc.path(name));
        if (status == null && Libc.errno() != Errno.ENOENT) {
            throw failure(path, "cannot be examined", Libc.errno());
        }
        return status;
    }

    /**
     * Returns whether no process has the file open for writing or mapped for writing. This process must have it open by
     * this descriptor alone, for reading.
     *
     * @throws IOException if the file system cannot tell
     */
    boolean isAtRest() throws IOException {
        return grants(F_RDLCK);
    }

    /** As {@link #isAtRest}, of processes that have it open or mapped in any way. */
    boolean isUnused() throws IOException {
        return grants(F_WRLCK);
    }

    /** Asks the kernel for a lease, which it refuses while others use the file (fcntl(2), F_SETLEASE). */
    private boolean grants(int lease) throws IOException {
        // A process that opens the file in this moment breaks the lease. The signal for that would end the JVM.
        libc.fcntl(number, F_SETSIG, SIGURG);
        if (libc.fcntl(number, F_SETLEASE, lease) != 0) {
            if (Libc.errno() != Errno.EAGAIN) {
                throw failure("is on a file system that cannot tell whether it is in use");
            }
            return false;
        }
        libc.fcntl(number, F_SETLEASE, F_UNLCK);
        return true;
    }

    /** Deletes a file below a folder; does nothing if there is none. {@code path} is for messages. */
    static void deleteAt(Libc.Functions libc, int folder, Path name, Path path) throws IOException {
        if (libc.unlinkat(folder, Libc.path(name), 0) != 0 && Libc.errno() != Errno.ENOENT) {
            throw failure(path, "cannot be deleted", Libc.errno());
        }
    }

    @Override
    public void close() {
        libc.close(number);
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
