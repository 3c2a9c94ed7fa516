package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.SplittableRandom;
import jnr.ffi.LibraryLoader;
import jnr.ffi.annotations.In;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that takes up space on a device for the time when others have filled it: deleting the file then gives room for what must
 * be written. Its bytes mean nothing. It is whole, or it is not there.
 */
public final class Ballast {
    /** The file's name. */
    public static final String NAME = "ballast";

    /** While it is being made. */
    private static final String NEW_NAME = NAME + ".new";

    private static final Logger log = LoggerFactory.getLogger(Ballast.class);
    private static final int WRITE_BYTES = 256 << 10;

    private final Path folder;
    private final long bytes;

    /** @param bytes how much it takes up when it is made */
    public Ballast(Path folder, long bytes) {
        this.folder = folder;
        this.bytes = bytes;
    }

    /** How much it takes up when it is made. */
    public long bytes() {
        return bytes;
    }

    public boolean exists() {
        return Files.exists(file());
    }

    /** Whether it takes up space as far as the file system tells: a copy that a backup brought back may be all holes. */
    public boolean isSound() throws IOException {
        long length = Files.size(file());
        return length > 0 && isAllocated(FileLayout.of(file()), length, true);
    }

    private static boolean isAllocated(FileLayout layout, long length, boolean otherwise) {
        return layout == FileLayout.UNKNOWN ? otherwise : layout.place(0) >= 0 && layout.place(length - 1) >= 0;
    }

    /** Deletes it; false if there was none. */
    public boolean free() throws IOException {
        Files.deleteIfExists(newFile());
        return Files.deleteIfExists(file());
    }

    /**
     * Makes it.
     *
     * @throws IOException if the device has no room for all of it; nothing is left of it then
     */
    public void make() throws IOException {
        Files.deleteIfExists(newFile());
        try {
            allocate(newFile());
            Files.move(newFile(), file());
        } catch (IOException | RuntimeException e) {
            try {
                Files.deleteIfExists(newFile());
            } catch (IOException again) {
                e.addSuppressed(again);
            }
            throw e;
        }
    }

    /**
     * Has the file system set space aside. Where it does not know how to, or does not show that it did, the file is filled with
     * bytes that no file system stores in less space than they take.
     */
    private void allocate(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(
                file,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            if (!isAllocated(file)) {
                fill(channel);
            }
            channel.force(true);
        }
    }

    private boolean isAllocated(Path file) throws IOException {
        Functions libc = Libc.FUNCTIONS;
        if (libc == null) {
            return false;
        }
        int descriptor = libc.open(file.toString(), Libc.O_WRONLY | Libc.O_CLOEXEC);
        if (descriptor < 0) {
            return false;
        }
        try {
            if (libc.fallocate(descriptor, 0, 0, bytes) != 0) {
                return false;
            }
        } finally {
            libc.close(descriptor);
        }
        return isAllocated(FileLayout.of(file), bytes, false);
    }

    private void fill(FileChannel channel) throws IOException {
        SplittableRandom noise = new SplittableRandom();
        ByteBuffer buffer = ByteBuffer.allocate(WRITE_BYTES);
        for (long at = 0; at < bytes; ) {
            noise.nextBytes(buffer.array());
            buffer.clear().limit((int) Math.min(WRITE_BYTES, bytes - at));
            at += channel.write(buffer, at);
        }
    }

    private Path file() {
        return folder.resolve(NAME);
    }

    private Path newFile() {
        return folder.resolve(NEW_NAME);
    }

    @Override
    public String toString() {
        return file().toString();
    }

    /** As the manual pages say. */
    public interface Functions {
        int open(@In String path, int flags);

        int fallocate(int descriptor, int mode, long offset, long length);

        int close(int descriptor);
    }

    /** Loaded when it is first needed. */
    private static final class Libc {
        static final int O_WRONLY = 1;
        static final int O_CLOEXEC = 02000000;
        static final @Nullable Functions FUNCTIONS = load();

        private static @Nullable Functions load() {
            try {
                return LibraryLoader.create(Functions.class).failImmediately().load("c");
            } catch (RuntimeException | LinkageError e) {
                log.debug("files that take up space are filled: the file system can't be asked for space", e);
                return null;
            }
        }
    }
}
