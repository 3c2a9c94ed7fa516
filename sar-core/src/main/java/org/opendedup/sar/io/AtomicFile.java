package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import org.jspecify.annotations.Nullable;

/** Writes small files that are replaced as a whole. */
public final class AtomicFile {
    /** Ends the name of a file of a {@link Directory} that is being written, and does not count. */
    public static final String NEW = ".new";

    private AtomicFile() {}

    /**
     * Writes a file of a directory, over an earlier state of it; durable when it returns. After a crash, either the old
     * or the new file is there, whole.
     */
    public static void write(Directory directory, String name, ByteBuffer contents) throws IOException {
        write(directory, name, contents, 0);
    }

    /**
     * As above, and reserves space for the file before its bytes are written.
     *
     * @param reserved at least these bytes
     */
    public static void write(Directory directory, String name, ByteBuffer contents, int reserved) throws IOException {
        prepare(directory, name, contents, reserved);
        directory.rename(name + NEW, name);
        directory.sync();
    }

    /** Writes what becomes a file by a rename: its bytes are durable, under the name with {@value #NEW} at its end. */
    public static void prepare(Directory directory, String name, ByteBuffer contents) throws IOException {
        prepare(directory, name, contents, 0);
    }

    private static void prepare(Directory directory, String name, ByteBuffer contents, int reserved)
            throws IOException {
        if (directory.exists(name + NEW)) {
            directory.delete(name + NEW);
        }
        try (Output file = directory.create(name + NEW)) {
            file.reserve(reserved);
            file.append(contents);
            file.force();
        }
    }

    /**
     * Writes a file. After a crash, either the old or the new file is there, whole.
     *
     * @throws IOException if the file cannot be written; the old file is then unchanged
     */
    public static void write(Path file, byte[] contents) throws IOException {
        write(file, contents, null);
    }

    /**
     * Replaces a file, which keeps its owner, its group and its permissions. After a crash, either the old or the new
     * file is there, whole.
     *
     * @throws IOException if the file is missing or cannot be written; the old file is then unchanged
     */
    public static void replace(Path file, byte[] contents) throws IOException {
        write(file, contents, Files.readAttributes(file, PosixFileAttributes.class));
    }

    private static void write(Path file, byte[] contents, @Nullable PosixFileAttributes kept) throws IOException {
        Path folder = folderOf(file);
        Path temporary = Files.createTempFile(folder, file.getFileName() + ".", ".tmp");
        try {
            LastingChannel.uninterrupted(() -> {
                try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
                    ByteBuffer buffer = ByteBuffer.wrap(contents);
                    while (buffer.hasRemaining()) {
                        channel.write(buffer);
                    }
                    return temporary;
                }
            });
            if (kept != null) {
                keep(kept, temporary);
            }
            move(temporary, file);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    private static Path folderOf(Path file) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null) {
            throw new IOException(file + " is no file name");
        }
        return folder;
    }

    private static void keep(PosixFileAttributes kept, Path file) throws IOException {
        PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
        PosixFileAttributes now = view.readAttributes();
        // Only root may give a file away, and nobody else needs to.
        if (!kept.owner().equals(now.owner())) {
            view.setOwner(kept.owner());
        }
        if (!kept.group().equals(now.group())) {
            view.setGroup(kept.group());
        }
        view.setPermissions(kept.permissions());
    }

    /**
     * Moves a file or folder to another name in its folder, durably. What it has, its bytes or names, is durable before
     * it has the name.
     *
     * @throws IOException if it cannot be moved; a file with that name is then unchanged
     */
    public static void move(Path from, Path to) throws IOException {
        force(from);
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        force(folderOf(to));
    }

    /** Makes the bytes of a file durable, or the names in a folder. */
    public static void force(Path file) throws IOException {
        LastingChannel.uninterrupted(() -> {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                channel.force(true);
                return file;
            }
        });
    }
}
