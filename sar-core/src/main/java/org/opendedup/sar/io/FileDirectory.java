package org.opendedup.sar.io;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;

/**
 * A directory of the local file system. A full disk or quota is reported as {@link NoSpaceException}; every other failure
 * as the JDK reports it. Reading and writing threads must not be interrupted: the JDK closes a channel whose user is.
 */
public final class FileDirectory implements Directory {
    /**
     * Bytes moved by one system call. The JDK copies heap buffers through a direct buffer that it keeps for each thread for
     * ever, as large as the largest transfer: so 16 threads hold 4 MiB at most.
     */
    private static final int TRANSFER_BYTES = 256 * 1024;

    private final Path root;

    /** Folders whose entries changed since the last {@link #sync}. Guarded by itself. */
    private final Set<Path> changed = new HashSet<>();

    private FileDirectory(Path root) {
        this.root = root;
    }

    /**
     * Opens an existing folder.
     *
     * @throws NoSuchFileException if nothing is there: a missing data location is never made anew silently
     * @throws NotDirectoryException if something else is
     */
    public static FileDirectory open(Path root) throws IOException {
        if (!Files.exists(root)) {
            throw new NoSuchFileException(root.toString(), null, "the folder is missing; is its disk mounted?");
        }
        if (!Files.isDirectory(root)) {
            throw new NotDirectoryException(root.toString());
        }
        return new FileDirectory(root.toAbsolutePath().normalize());
    }

    @Override
    public Output create(String name) throws IOException {
        Path path = resolve(name);
        return translatingFullDisk(() -> {
            makeFolder(folderOf(path));
            FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            markChanged(folderOf(path));
            return new FileOutput(channel, path);
        });
    }

    @Override
    public Input open(String name) throws IOException {
        Path path = resolve(name);
        return new FileInput(FileChannel.open(path, StandardOpenOption.READ), path, name);
    }

    @Override
    public boolean exists(String name) {
        return Files.exists(resolve(name));
    }

    @Override
    public long length(String name) throws IOException {
        return Files.size(resolve(name));
    }

    @Override
    public void rename(String from, String to) throws IOException {
        Path source = resolve(from);
        Path target = resolve(to);
        translatingFullDisk(() -> {
            makeFolder(folderOf(target));
            Files.move(source, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            markChanged(folderOf(source));
            markChanged(folderOf(target));
            return target;
        });
    }

    @Override
    public void delete(String name) throws IOException {
        Path path = resolve(name);
        Files.delete(path);
        markChanged(folderOf(path));
    }

    @Override
    public List<String> list() throws IOException {
        List<String> names = new ArrayList<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (attributes.isRegularFile()) {
                    names.add(root.relativize(file).toString());
                }
                return FileVisitResult.CONTINUE;
            }
        });
        Collections.sort(names);
        return names;
    }

    @Override
    public void sync() throws IOException {
        List<Path> folders;
        synchronized (changed) {
            folders = List.copyOf(changed);
            changed.clear();
        }
        int synced = 0;
        try {
            for (; synced < folders.size(); synced++) {
                force(folders.get(synced));
            }
        } finally {
            synchronized (changed) {
                changed.addAll(folders.subList(synced, folders.size()));
            }
        }
    }

    @Override
    public long usableBytes() throws IOException {
        return Files.getFileStore(root).getUsableSpace();
    }

    @Override
    public String toString() {
        return root.toString();
    }

    private static void force(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    private Path resolve(String name) {
        Path path = root.resolve(name).normalize();
        if (!path.startsWith(root) || path.equals(root)) {
            throw new IllegalArgumentException("not a name inside " + root + ": " + name);
        }
        return path;
    }

    private Path folderOf(Path path) {
        Path parent = path.getParent();
        return parent == null ? root : parent;
    }

    /** Makes a folder and the ones above it; each is a new entry of the one above, which {@link #sync} must make durable. */
    private void makeFolder(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            return;
        }
        Path above = folderOf(folder);
        makeFolder(above);
        try {
            Files.createDirectory(folder);
        } catch (FileAlreadyExistsException raced) {
            if (!Files.isDirectory(folder)) {
                throw raced;
            }
        }
        markChanged(above);
    }

    private void markChanged(Path folder) {
        synchronized (changed) {
            changed.add(folder);
        }
    }

    private interface FileAction<T> {
        T run() throws IOException;
    }

    /** The JDK tells a full disk by its message alone. */
    private static <T> T translatingFullDisk(FileAction<T> action) throws IOException {
        try {
            return action.run();
        } catch (IOException e) {
            if (isFullDisk(e)) {
                NoSpaceException full = new NoSpaceException(String.valueOf(e.getMessage()));
                full.initCause(e);
                throw full;
            }
            throw e;
        }
    }

    private static boolean isFullDisk(IOException e) {
        String reason = e instanceof FileSystemException f ? f.getReason() : e.getMessage();
        if (reason == null) {
            return false;
        }
        String lower = reason.toLowerCase(Locale.ROOT);
        return lower.contains("no space left on device") || lower.contains("disk quota exceeded");
    }

    static final class FileOutput implements Output {
        private final FileChannel channel;
        private final Path path;
        private long position;

        FileOutput(FileChannel channel, Path path) {
            this.channel = channel;
            this.path = path;
        }

        @Override
        public long append(ByteBuffer source) throws IOException {
            long start = position;
            int end = source.limit();
            try {
                while (source.position() < end) {
                    source.limit(Math.min(end, source.position() + TRANSFER_BYTES));
                    position += translatingFullDisk(() -> channel.write(source));
                }
            } finally {
                source.limit(end);
            }
            return start;
        }

        @Override
        public long position() {
            return position;
        }

        @Override
        public void force() throws IOException {
            // Delayed allocation may find the disk full only now.
            translatingFullDisk(() -> {
                channel.force(false);
                return path;
            });
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }

        @Override
        public String toString() {
            return path.toString();
        }
    }

    private static final class FileInput implements Input {
        private final FileChannel channel;
        private final Path path;
        private final String name;
        private volatile @Nullable FileLayout layout;

        FileInput(FileChannel channel, Path path, String name) {
            this.channel = channel;
            this.path = path;
            this.name = name;
        }

        @Override
        public void readFully(long offset, ByteBuffer target) throws IOException {
            int end = target.limit();
            long at = offset;
            try {
                while (target.position() < end) {
                    target.limit(Math.min(end, target.position() + TRANSFER_BYTES));
                    int read = channel.read(target, at);
                    if (read < 0) {
                        throw new EOFException(
                                name + " ends at byte " + at + ", wanted up to " + (at + end - target.position()));
                    }
                    at += read;
                }
            } finally {
                target.limit(end);
            }
        }

        @Override
        public long length() throws IOException {
            return channel.size();
        }

        @Override
        public FileLayout layout() {
            FileLayout known = layout;
            if (known == null) {
                known = FileLayout.of(path);
                layout = known;
            }
            return known;
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
