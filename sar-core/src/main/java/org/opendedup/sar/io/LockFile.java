package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;
import org.opendedup.sar.common.Errno;

/**
 * A lock between processes, based on a file. The kernel releases the lock when its process ends in any way: a leftover
 * lock file has no meaning and is used again.
 *
 * <p>The lock belongs to the open file (F_OFD_SETLK), not to the process as the JDK's does. So it also excludes other
 * users in the same process, closing another channel to the file does not release it, and the kernel can report a
 * conflicting holder without acquiring the lock.
 */
public final class LockFile implements AutoCloseable {
    private static final int CLOSED = -1;
    private static final Path LIST = Path.of("/proc/locks");

    private final Libc.Functions libc;
    private int descriptor;

    private LockFile(Libc.Functions libc, int descriptor) {
        this.libc = libc;
        this.descriptor = descriptor;
    }

    /** Acquires the lock; returns empty if it is held already. The folder must exist. */
    public static Optional<LockFile> tryAcquire(Path file) throws IOException {
        Libc.Functions libc = Calls.functions();
        int descriptor = Calls.open(libc, file, Libc.O_RDWR | Libc.O_CREAT);
        byte[] lock = Calls.writeLock();
        if (libc.fcntl(descriptor, Calls.F_OFD_SETLK, lock) == 0) {
            return Optional.of(new LockFile(libc, descriptor));
        }
        int errno = Libc.errno();
        libc.close(descriptor);
        if (errno == Errno.EAGAIN || errno == Errno.EACCES) {
            return Optional.empty();
        }
        throw Calls.failure("locking", file, errno);
    }

    /**
     * Returns whether the kernel's list of locks, see proc_locks(5), has such a lock on this file. Needs no call of the
     * C library, for which a JVM must first make classes, in a quarter of a second of processor time. It is a hint: the
     * list names files by their numbers, which files of other file systems may have too, and which some file systems,
     * such as overlayfs, give differently.
     *
     * @return also true if there is no list
     */
    public static boolean isListed(Path file) throws IOException {
        if (Files.notExists(file)) {
            return false;
        } else if (!Files.isReadable(LIST)) {
            return true;
        }
        String end = ":" + Files.getAttribute(file, "unix:ino");
        try (Stream<String> locks = Files.lines(LIST)) {
            return locks.map(lock -> lock.split(" +"))
                    .anyMatch(lock -> Arrays.asList(lock).contains("OFDLCK")
                            && Arrays.stream(lock).anyMatch(word -> word.endsWith(end)));
        }
    }

    /** Returns whether the lock is held. Does not acquire it: another process may do so in the meantime. */
    public static boolean isHeld(Path file) throws IOException {
        if (Files.notExists(file)) {
            return false;
        }
        Libc.Functions libc = Calls.functions();
        int descriptor = Calls.open(libc, file, Libc.O_RDONLY);
        try {
            byte[] lock = Calls.writeLock();
            if (libc.fcntl(descriptor, Calls.F_OFD_GETLK, lock) != 0) {
                throw Calls.failure("asking for the lock", file, Libc.errno());
            }
            return Calls.type(lock) != Calls.F_UNLCK;
        } finally {
            libc.close(descriptor);
        }
    }

    /** Releases the lock. Idempotent. */
    @Override
    public void close() {
        if (descriptor != CLOSED) {
            libc.close(descriptor);
            descriptor = CLOSED;
        }
    }

    /** The 64-bit {@code struct flock}, and the calls that use it. */
    private static final class Calls {
        static final int F_OFD_GETLK = 36;
        static final int F_OFD_SETLK = 37;
        static final int F_UNLCK = 2;

        private static final short F_WRLCK = 1;
        /**
         * {@code sizeof(struct flock)}: type, whence, start, length, process. All zeros except the type: from byte 0 to
         * the end of the file.
         */
        private static final int LOCK_BYTES = 32;

        static Libc.Functions functions() throws IOException {
            Libc.Functions functions = Libc.loaded();
            if (functions == null) {
                throw new IOException("the C library can't be called, which locks between processes need");
            }
            return functions;
        }

        static byte[] writeLock() {
            return ByteBuffer.allocate(LOCK_BYTES)
                    .order(ByteOrder.nativeOrder())
                    .putShort(0, F_WRLCK)
                    .array();
        }

        static int type(byte[] lock) {
            return ByteBuffer.wrap(lock).order(ByteOrder.nativeOrder()).getShort(0);
        }

        static int open(Libc.Functions functions, Path file, int flags) throws IOException {
            int descriptor = Libc.open(functions, file, flags);
            if (descriptor < 0) {
                throw failure("opening", file, Libc.errno());
            }
            return descriptor;
        }

        static IOException failure(String what, Path file, int errno) {
            return new IOException(what + " " + file + ": " + SystemError.words(errno));
        }
    }
}
