package org.opendedup.sar.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import jnr.ffi.Pointer;
import org.jspecify.annotations.Nullable;

/** A file opened through the C library, for the calls that Java's channels do not offer. Safe for many threads. */
final class Descriptor implements Closeable {
    /** FALLOC_FL_KEEP_SIZE, a mode of fallocate(2). */
    private static final int KEEP_SIZE = 1;
    /** SYNC_FILE_RANGE_WRITE, a flag of sync_file_range(2). */
    private static final int WRITE = 2;

    private final Libc.Functions libc;
    private final int number;
    private final Path file;

    private Descriptor(Libc.Functions libc, int number, Path file) {
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
        Libc.Functions libc = Libc.functions();
        if (libc == null) {
            return null;
        }
        int number = Libc.open(libc, file, flags);
        return number < 0 ? null : new Descriptor(libc, number, file);
    }

    /** Returns whether the request succeeded. */
    boolean ioctl(long request, Pointer argument) {
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

    /** Has the system begin to write a range to the disk. A failure is reported by the next force of the file. */
    void startWriting(long offset, long length) {
        libc.sync_file_range(number, offset, length, WRITE);
    }

    @Override
    public void close() {
        libc.close(number);
    }
}
