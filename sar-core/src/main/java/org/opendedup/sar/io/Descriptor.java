package org.opendedup.sar.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Errno;

/** A file opened through the C library, for the calls that Java's channels do not offer. Safe for many threads. */
final class Descriptor implements Closeable {
    /** FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE, modes of fallocate(2). */
    private static final int KEEP_SIZE = 1;

    private static final int PUNCH_HOLE = 2;
    /** SYNC_FILE_RANGE_WRITE, a flag of sync_file_range(2). */
    private static final int WRITE = 2;

    /** POSIX_FADV_DONTNEED, an advice of posix_fadvise(2). */
    private static final int WILL_NEED = 3;

    private static final int DONT_NEED = 4;
    /** Bytes that the kernel reads by one call at least: what it reads ahead, 128 KiB by default. */
    private static final int EXPECTED_AT_LEAST = 128 << 10;
    /**
     * Bytes that one call expects at most: most disks take that as one request, and the kernel then reads all of it.
     */
    private static final int EXPECTED_AT_ONCE = 1 << 20;

    private final Libc.Functions libc;
    private final int number;
    private final Path file;

    Descriptor(Libc.Functions libc, int number, Path file) {
        this.libc = libc;
        this.number = number;
        this.file = file;
    }

    /**
     * Opens an existing file; returns null if that fails.
     *
     * @param flags as those of {@link Libc#open}
     */
    static @Nullable Descriptor open(Path file, int flags) {
        Libc.Functions libc = Libc.loaded();
        if (libc == null) {
            return null;
        }
        int number = Libc.open(libc, file, flags);
        return number < 0 ? null : new Descriptor(libc, number, file);
    }

    /** Asks the kernel to forget what it has in memory of a range of the file, except what was not forced. */
    void forgetCached(long offset, long length) {
        int unused = libc.posix_fadvise(number, offset, length, DONT_NEED);
    }

    /** Asks the kernel to begin to read a range of the file into its cache. */
    void expect(long offset, long length) {
        long end = offset + length;
        for (long at = offset; at < end; ) {
            // How much of it the kernel reads, it does not say: the next call passes over what is being read already.
            long to = Math.min(end, (at | EXPECTED_AT_ONCE - 1) + 1);
            int unused = libc.posix_fadvise(number, at, to - at, WILL_NEED);
            at = Math.min(end, (at | EXPECTED_AT_LEAST - 1) + 1);
        }
    }

    /**
     * Returns whether the request succeeded.
     *
     * @param argument address of the request's structure
     */
    boolean ioctl(long request, long argument) {
        return libc.ioctl(number, request, argument) == 0;
    }

    /**
     * Asks the file system to allocate a range of the file without a change of its length. Returns whether all of it is
     * allocated; if not, a part may be.
     */
    boolean reserve(long offset, long length) {
        return libc.fallocate(number, KEEP_SIZE, offset, length) == 0;
    }

    /**
     * Frees what is allocated after the end of the file, by truncation to its present length: ext4, xfs, btrfs and
     * tmpfs do so.
     *
     * @param length the file's length in bytes
     */
    void trim(long length) throws IOException {
        if (libc.ftruncate(number, length) != 0) {
            throw new IOException(file + ": space after its end cannot be freed: " + SystemError.words(Libc.errno()));
        }
    }

    /**
     * Frees a range of the file without a change of its length; its bytes become zeros. Not durable before
     * {@link #force}.
     *
     * @return false if the file system cannot free ranges; nothing has changed then
     */
    boolean release(FileRange range) throws IOException {
        int errno = errorOf(() -> libc.fallocate(number, PUNCH_HOLE | KEEP_SIZE, range.offset(), range.length()));
        if (errno == Errno.EOPNOTSUPP) {
            return false;
        }
        if (errno != 0) {
            throw new IOException(file + ": the space of " + range.length() + " bytes from byte " + range.offset()
                    + " cannot be freed: " + SystemError.words(errno));
        }
        return true;
    }

    /** Makes the file's bytes durable, and which space is allocated for them. */
    void force() throws IOException {
        int errno = errorOf(() -> libc.fdatasync(number));
        if (errno != 0) {
            throw new IOException(file + " cannot be written to the disk: " + SystemError.words(errno));
        }
    }

    /** Makes a system call, again if a signal interrupts it. Returns 0, or its error number. */
    private static int errorOf(IntSupplier call) {
        while (call.getAsInt() != 0) {
            int errno = Libc.errno();
            if (errno != Errno.EINTR) {
                return errno;
            }
        }
        return 0;
    }

    /** Returns the bytes that the file takes on its disk; -1 if the system cannot tell. */
    long allocatedBytes() {
        return Statx.allocatedBytes(libc, number);
    }

    /** Has the system begin to write a range to the disk. A failure is reported by the next force of the file. */
    void startWriting(long offset, long length) {
        libc.sync_file_range(number, offset, length, WRITE);
    }

    @Override
    public void close() {
        libc.close(number);
    }
}
