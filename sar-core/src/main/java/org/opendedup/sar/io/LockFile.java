package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Runtime;
import jnr.ffi.annotations.In;
import jnr.ffi.annotations.Out;

/**
 * A lock between processes, by way of a file. The kernel drops the lock when its process ends, however it ends: a lock
 * file that was left behind says nothing and is used again.
 *
 * <p>It belongs to the open file (F_OFD_SETLK), not to the process as the JDK's does: so it holds within a process too, another channel
 * to the file does not end it, and the kernel can be asked who would be in the way without taking it.
 */
public final class LockFile implements AutoCloseable {
    private static final int CLOSED = -1;

    private final Libc libc;
    private int descriptor;

    private LockFile(Libc libc, int descriptor) {
        this.libc = libc;
        this.descriptor = descriptor;
    }

    /** The lock, or empty if another holds it. The folder must exist. */
    public static Optional<LockFile> tryAcquire(Path file) throws IOException {
        var libc = new Libc();
        int descriptor = libc.open(file, Libc.O_RDWR | Libc.O_CREAT);
        byte[] lock = Libc.writeLock();
        if (libc.functions.fcntl(descriptor, Libc.F_OFD_SETLK, lock) == 0) {
            return Optional.of(new LockFile(libc, descriptor));
        }
        int errno = libc.errno();
        libc.functions.close(descriptor);
        if (errno == Libc.EAGAIN || errno == Libc.EACCES) {
            return Optional.empty();
        }
        throw libc.failure("locking", file, errno);
    }

    /** Whether somebody holds the lock. Only looks: whoever takes it meanwhile gets it. */
    public static boolean isHeld(Path file) throws IOException {
        if (Files.notExists(file)) {
            return false;
        }
        var libc = new Libc();
        int descriptor = libc.open(file, Libc.O_RDONLY);
        try {
            byte[] lock = Libc.writeLock();
            if (libc.functions.fcntl(descriptor, Libc.F_OFD_GETLK, lock) != 0) {
                throw libc.failure("asking for the lock", file, libc.errno());
            }
            return Libc.type(lock) != Libc.F_UNLCK;
        } finally {
            libc.functions.close(descriptor);
        }
    }

    /** Gives the lock up. Idempotent. */
    @Override
    public void close() {
        if (descriptor != CLOSED) {
            libc.functions.close(descriptor);
            descriptor = CLOSED;
        }
    }

    /** As the manual pages say. */
    public interface Functions {
        int open(@In byte[] path, int flags, int mode);

        int fcntl(int descriptor, int command, @In @Out byte[] lock);

        int close(int descriptor);

        String strerror(int errno);
    }

    /** The C library's calls, with {@code struct flock} of 64 bits. */
    private static final class Libc {
        static final int O_RDONLY = 0;
        static final int O_RDWR = 2;
        static final int O_CREAT = 0100;
        static final int F_OFD_GETLK = 36;
        static final int F_OFD_SETLK = 37;
        static final int F_UNLCK = 2;
        static final int EAGAIN = 11;
        static final int EACCES = 13;

        private static final int O_CLOEXEC = 02000000;
        private static final short F_WRLCK = 1;
        private static final int OWNER_ALONE = 0600;
        /** {@code sizeof(struct flock)}: type, whence, start, length, process; from 0 to the end is zeros. */
        private static final int LOCK_BYTES = 32;

        final Functions functions = Loaded.FUNCTIONS;

        /** Loaded when it is first needed, and once: that takes longer than many calls. */
        private static final class Loaded {
            static final Functions FUNCTIONS =
                    LibraryLoader.create(Functions.class).load("c");
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

        int errno() {
            return Runtime.getSystemRuntime().getLastError();
        }

        int open(Path file, int flags) throws IOException {
            byte[] path = file.toString().getBytes(Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8")));
            int descriptor = functions.open(Arrays.copyOf(path, path.length + 1), flags | O_CLOEXEC, OWNER_ALONE);
            if (descriptor < 0) {
                throw failure("opening", file, errno());
            }
            return descriptor;
        }

        IOException failure(String what, Path file, int errno) {
            return new IOException(what + " " + file + ": " + functions.strerror(errno));
        }
    }
}
