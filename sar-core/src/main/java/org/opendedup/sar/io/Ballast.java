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
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.NoSpaceException;

/**
 * A file that reserves space on a device for the time when other files have filled it: deleting the file then frees
 * room for what must be written. Its bytes have no meaning. It is either whole or absent.
 */
public final class Ballast {
    /** The file's name. */
    public static final String NAME = "ballast";

    /** The file's name while it is being made. */
    private static final String NEW_NAME = NAME + ".new";

    private static final int WRITE_BYTES = 256 << 10;

    private static final int UNKNOWN_ERROR = -1;

    /** Asks a file system to allocate space. */
    interface Allocation {
        /** Returns 0, or the error number. */
        int allocate(Path file, long bytes);
    }

    private final Path folder;
    private final long bytes;
    private final Allocation allocation;

    /** @param bytes size of the file when it is made, in bytes */
    public Ballast(Path folder, long bytes) {
        this(folder, bytes, Ballast::allocateBySystem);
    }

    Ballast(Path folder, long bytes, Allocation allocation) {
        this.folder = folder;
        this.bytes = bytes;
        this.allocation = allocation;
    }

    /** Returns the size of the file when it is made, in bytes. */
    public long bytes() {
        return bytes;
    }

    public boolean exists() {
        return Files.exists(file());
    }

    /**
     * Returns whether the file occupies space, as far as the file system reports it: a copy restored from a backup may
     * be all holes.
     */
    public boolean isSound() throws IOException {
        long length = Files.size(file());
        return length > 0 && isAllocated(FileLayout.of(file()), length, true);
    }

    private static boolean isAllocated(FileLayout layout, long length, boolean otherwise) {
        return layout == FileLayout.UNKNOWN ? otherwise : layout.place(0) >= 0 && layout.place(length - 1) >= 0;
    }

    /** Deletes the file; returns false if there was none. */
    public boolean free() throws IOException {
        Files.deleteIfExists(newFile());
        return Files.deleteIfExists(file());
    }

    /**
     * Makes the file.
     *
     * @throws IOException if the device has no room for all of it; nothing of the file is left then
     */
    public void make() throws IOException {
        Files.deleteIfExists(newFile());
        try {
            allocate(newFile());
            Files.move(newFile(), file());
        } catch (IOException | RuntimeException e) {
            Closing.after(e, () -> Files.deleteIfExists(newFile()));
            throw e;
        }
    }

    /**
     * Lets the file system allocate the space. If it cannot, or does not show that it did, fills the file with random
     * bytes, which no file system stores in less space than their length. Does not fill the file if the file system
     * reported too little space.
     */
    private void allocate(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(
                file,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            int errno = allocation.allocate(file, bytes);
            if (SystemError.isFull(errno)) {
                throw new NoSpaceException(file + " can't have " + bytes + " bytes: " + SystemError.words(errno));
            }
            if (errno != 0 || !isAllocated(FileLayout.of(file), bytes, false)) {
                fill(channel);
            }
            channel.force(true);
        }
    }

    /** Calls fallocate(2). */
    private static int allocateBySystem(Path file, long bytes) {
        Libc.Functions libc = Libc.loaded();
        if (libc == null) {
            return UNKNOWN_ERROR;
        }
        int descriptor = Libc.open(libc, file, Libc.O_WRONLY);
        if (descriptor < 0) {
            return Libc.errno();
        }
        try {
            return libc.fallocate(descriptor, 0, 0, bytes) == 0 ? 0 : Libc.errno();
        } finally {
            libc.close(descriptor);
        }
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
}
