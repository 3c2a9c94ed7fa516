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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;

/**
 * A directory of the local file system. Reports a full disk or quota as {@link NoSpaceException}, and every other
 * failure as the JDK reports it. Reading and writing threads must not be interrupted: the JDK closes a channel whose
 * user is interrupted.
 */
public final class FileDirectory implements Directory {
    /** Default number of transfer buffers of a directory: 2 MiB at most. */
    public static final int TRANSFER_BUFFERS = 8;

    /** System calls on folders, as an interface: a test waits in them. */
    interface FolderCalls {
        void create(Path folder) throws IOException;

        /** Makes the entries of a folder durable. */
        void force(Path folder) throws IOException;
    }

    private static final FolderCalls SYSTEM = new FolderCalls() {
        @Override
        public void create(Path folder) throws IOException {
            PrivateFiles.createFolder(folder);
        }

        @Override
        public void force(Path folder) throws IOException {
            try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    };

    private final Path root;
    private final FolderCalls calls;
    private final TransferBuffers buffers;

    /** Folders whose entries changed since the folder was last forced. */
    private final Set<Path> changed = ConcurrentHashMap.newKeySet();

    /**
     * Held shared while entries change and their folder is recorded, exclusively while the records are removed. So no
     * caller of {@link #sync} can see a change whose record it does not see.
     */
    private final ReadWriteLock changing = new ReentrantReadWriteLock();

    /** Held while folders are forced: a sync that finds nothing to do must wait for one that is still running. */
    private final Lock syncing = new ReentrantLock();

    private FileDirectory(Path root, FolderCalls calls, TransferBuffers buffers) {
        this.root = root;
        this.calls = calls;
        this.buffers = buffers;
    }

    /**
     * Opens an existing folder.
     *
     * @throws NoSuchFileException if nothing is there: a missing data location is never created again silently
     * @throws NotDirectoryException if something else is there
     */
    public static FileDirectory open(Path root) throws IOException {
        return open(root, SYSTEM);
    }

    static FileDirectory open(Path root, FolderCalls calls) throws IOException {
        return open(root, calls, new TransferBuffers(TRANSFER_BUFFERS));
    }

    /**
     * As above; all bytes of files are transferred through {@code buffers}. Other disks should not share them: a disk
     * that hangs keeps all the buffers that it uses.
     */
    public static FileDirectory open(Path root, TransferBuffers buffers) throws IOException {
        return open(root, SYSTEM, buffers);
    }

    private static FileDirectory open(Path root, FolderCalls calls, TransferBuffers buffers) throws IOException {
        if (!Files.exists(root)) {
            throw new NoSuchFileException(root.toString(), null, "the folder is missing; is its disk mounted?");
        }
        if (!Files.isDirectory(root)) {
            throw new NotDirectoryException(root.toString());
        }
        return new FileDirectory(root.toAbsolutePath().normalize(), calls, buffers);
    }

    @Override
    public Output create(String name) throws IOException {
        Path path = resolve(name);
        return changing(() -> {
            makeFolder(folderOf(path));
            changed.add(folderOf(path));
            return new FileOutput(
                    PrivateFiles.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), path);
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
        changing(() -> {
            makeFolder(folderOf(target));
            changed.add(folderOf(source));
            changed.add(folderOf(target));
            return Files.move(source, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        });
    }

    @Override
    public void delete(String name) throws IOException {
        Path path = resolve(name);
        changing(() -> {
            changed.add(folderOf(path));
            Files.delete(path);
            return path;
        });
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
        syncing.lock();
        try {
            Deque<Path> folders = takeChanged();
            try {
                while (!folders.isEmpty()) {
                    calls.force(folders.getFirst());
                    folders.removeFirst();
                }
            } finally {
                changed.addAll(folders); // the folder that failed, and those after it
            }
        } finally {
            syncing.unlock();
        }
    }

    private Deque<Path> takeChanged() {
        changing.writeLock().lock();
        try {
            Deque<Path> folders = new ArrayDeque<>(changed);
            changed.clear();
            return folders;
        } finally {
            changing.writeLock().unlock();
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

    /**
     * Makes a folder and its missing parents. Each is a new entry of its parent, which {@link #sync} must make durable.
     */
    private void makeFolder(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            return;
        }
        Path above = folderOf(folder);
        makeFolder(above);
        changed.add(above);
        try {
            calls.create(folder);
        } catch (FileAlreadyExistsException raced) {
            if (!Files.isDirectory(folder)) {
                throw raced;
            }
        }
    }

    /** Runs an action that changes and records entries of folders, under the shared lock. */
    private <T> T changing(FileAction<T> action) throws IOException {
        changing.readLock().lock();
        try {
            return translatingFullDisk(action);
        } finally {
            changing.readLock().unlock();
        }
    }

    private interface FileAction<T> {
        T run() throws IOException;
    }

    /**
     * Runs an action, and throws a {@link NoSpaceException} if the disk is full. The JDK reports a full disk by its
     * message only.
     */
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

    static boolean isFullDisk(IOException e) {
        return SystemError.isFullIn(e instanceof FileSystemException f ? f.getReason() : e.getMessage());
    }

    final class FileOutput implements Output {
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
            try {
                while (source.hasRemaining()) {
                    position += translatingFullDisk(() -> buffers.write(channel, source));
                }
            } catch (NoSpaceException e) {
                takeBack(start, e);
                throw e;
            }
            return start;
        }

        /** Removes the bytes of an incomplete append from the file, which needs no space. */
        private void takeBack(long start, NoSpaceException cause) throws IOException {
            try {
                channel.truncate(start);
                position = start;
            } catch (IOException e) {
                IOException torn = new IOException(path + " ends within an append: " + e.getMessage(), cause);
                torn.addSuppressed(e);
                throw torn;
            }
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

    private final class FileInput implements Input {
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
            long at = offset;
            while (target.hasRemaining()) {
                int read = buffers.read(channel, target, at);
                if (read < 0) {
                    throw new EOFException(
                            name + " ends at byte " + at + ", wanted up to " + (at + target.remaining()));
                }
                at += read;
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
