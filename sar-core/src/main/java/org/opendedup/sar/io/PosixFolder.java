package org.opendedup.sar.io;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;

/**
 * A folder that is held open. Its files are found from its descriptor, so they are always those of this folder,
 * whatever is renamed or mounted over its path. Its file system cannot be unmounted meanwhile. Safe for use by many
 * threads. A call that still runs at {@link #close} ends in this folder, too.
 */
public final class PosixFolder implements Closeable {
    private final Path path;
    private final Libc.Functions libc;
    private final PosixFile folder;
    /** Number of calls that run. Guarded by this, as is the next. */
    private int calls;

    private boolean isClosed;

    private PosixFolder(Path path, Libc.Functions libc, PosixFile folder) {
        this.path = path;
        this.libc = libc;
        this.folder = folder;
    }

    /**
     * Opens an existing folder.
     *
     * @throws NoSuchFileException if there is none
     */
    public static PosixFolder of(Path path) throws IOException {
        return new PosixFolder(path, PosixFile.libc(path), PosixFile.openFolder(path));
    }

    @FunctionalInterface
    private interface Call<T> {
        T with(int folder) throws IOException;
    }

    /** Makes a call with the descriptor, which is not closed, and not that of another file, before it returns. */
    private <T> T call(Call<T> call) throws IOException {
        synchronized (this) {
            if (isClosed) {
                throw new IOException(path + " is not in use any more");
            }
            calls++;
        }
        try {
            return call.with(folder.descriptor());
        } finally {
            synchronized (this) {
                if (--calls == 0 && isClosed) {
                    folder.close();
                }
            }
        }
    }

    private PosixFile openWith(Path name, int flags) throws IOException {
        return call(number -> PosixFile.openAt(libc, number, name, path.resolve(name), flags));
    }

    /** Makes a new, empty file that only its owner may access. Fails if there is one. */
    public RandomFile create(Path name) throws IOException {
        return openWith(name, Libc.O_RDWR | Libc.O_CREAT | Libc.O_EXCL);
    }

    /**
     * Opens an existing file for reading and writing; for reading only if its file system is read-only.
     *
     * @throws NoSuchFileException if there is none
     */
    public RandomFile open(Path name) throws IOException {
        try {
            return openWith(name, Libc.O_RDWR);
        } catch (PosixException e) {
            if (e.reason() != Reason.EROFS) {
                throw e;
            }
            return openWith(name, Libc.O_RDONLY);
        }
    }

    /** Returns the first bytes of a file, at most {@code limit}. */
    public byte[] read(Path name, int limit) throws IOException {
        try (PosixFile file = openWith(name, Libc.O_RDONLY)) {
            ByteBuffer bytes = ByteBuffer.allocate(limit);
            file.read(0, bytes);
            byte[] read = new byte[bytes.position()];
            bytes.flip().get(read);
            return read;
        }
    }

    /** Returns the status of a file; null if it does not exist. */
    public RandomFile.@Nullable Status status(Path name) throws IOException {
        return call(number -> Optional.ofNullable(PosixFile.statusAt(libc, number, name, path.resolve(name))))
                .orElse(null);
    }

    /** Deletes a file; does nothing if there is none. */
    public void delete(Path name) throws IOException {
        call(number -> {
            PosixFile.deleteAt(libc, number, name, path.resolve(name));
            return name;
        });
    }

    /** Returns whether no process, this one included, has a file open for writing or mapped for writing. */
    public boolean isAtRest(Path name) throws IOException {
        try (PosixFile file = openWith(name, Libc.O_RDONLY)) {
            return file.isAtRest();
        }
    }

    /** Returns whether no process, this one included, has a file open or mapped. */
    public boolean isUnused(Path name) throws IOException {
        try (PosixFile file = openWith(name, Libc.O_RDONLY)) {
            return file.isUnused();
        }
    }

    /** Makes everything durable that was written to the file system. */
    public void forceFileSystem() throws IOException {
        call(number -> {
            folder.forceFileSystem();
            return number;
        });
    }

    /** Visits the names of all files in a folder below. */
    public void forEach(Path below, Consumer<String> visitor) throws IOException {
        call(number -> {
            try (DirectoryStream<Path> files =
                    Files.newDirectoryStream(ofDescriptor(number).resolve(below))) {
                files.forEach(file -> visitor.accept(file.getFileName().toString()));
            } catch (DirectoryIteratorException e) {
                throw e.getCause();
            }
            return number;
        });
    }

    /** Returns the bytes that this user can still write to the file system. */
    public long usableBytes() throws IOException {
        return call(number -> new File(ofDescriptor(number).toString()).getUsableSpace());
    }

    /** Returns a path of the folder that leads through its descriptor, for calls of Java. */
    private static Path ofDescriptor(int number) {
        return Path.of("/proc/self/fd", Integer.toString(number));
    }

    @Override
    public synchronized void close() {
        if (!isClosed) {
            isClosed = true;
            if (calls == 0) {
                folder.close();
            }
        }
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
