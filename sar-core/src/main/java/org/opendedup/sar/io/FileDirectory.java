package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Answer;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.NoSpaceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory of the local file system. Reports a full disk or quota as {@link NoSpaceException}, and every other
 * failure as the JDK reports it. Reading and writing threads must not be interrupted: the JDK closes a channel whose
 * user is interrupted.
 */
public final class FileDirectory implements Directory {
    private static final Logger log = LoggerFactory.getLogger(FileDirectory.class);

    /** Default number of transfer buffers of a directory: 2 MiB at most. */
    public static final int TRANSFER_BUFFERS = 8;

    /** Type of a file system that frees a range only with all that was written or reserved at once around it. */
    private static final String FREES_WHOLE_EXTENTS = "btrfs";

    /** More than is ever reserved behind the end of a file, in bytes. */
    private static final long FAR_BYTES = 1L << 30;

    private static final int BLOCK_BYTES = 4096;

    /** System calls on folders, as an interface: a test waits in them. */
    interface FolderCalls {
        void create(Path folder) throws IOException;

        /** Makes the entries of a folder durable. */
        void force(Path folder) throws IOException;

        /** Reads the entries of a folder. */
        default DirectoryStream<Path> read(Path folder) throws IOException {
            return Files.newDirectoryStream(folder);
        }
    }

    private static final FolderCalls SYSTEM = new FolderCalls() {
        @Override
        public void create(Path folder) throws IOException {
            PrivateFiles.createFolder(folder);
        }

        @Override
        public void force(Path folder) throws IOException {
            LastingChannel.uninterrupted(() -> {
                try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
                    channel.force(true);
                    return folder;
                }
            });
        }
    };

    private final Path root;
    private final FolderCalls calls;
    private final TransferBuffers buffers;

    /**
     * Folders whose entries changed since the folder was last forced, with these entries as far as they are there: a
     * volume that is only read forces nothing, and its cache makes and deletes files for months. A change that failed
     * is not among them, unless it can be seen: a folder on a disk that is gone, or read-only, could not be forced.
     */
    private final Map<Path, Set<Path>> changed = new ConcurrentHashMap<>();

    /** Entries that changed before a force of their folder failed, with the failure, until they are made again. */
    private final Map<Path, IOException> inDoubt = new ConcurrentHashMap<>();

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
            throw missing(root);
        }
        if (!Files.isDirectory(root)) {
            throw new NotDirectoryException(root.toString());
        }
        return new FileDirectory(root.toAbsolutePath().normalize(), calls, buffers);
    }

    private static NoSuchFileException missing(Path root) {
        return new NoSuchFileException(root.toString(), null, "the folder is missing; is its disk mounted?");
    }

    @Override
    public Output create(String name) throws IOException {
        Path path = resolve(name);
        return changing(() -> {
            makeFolder(folderOf(path));
            FileChannel made = makeFile(path);
            noteChange(path);
            inDoubt.remove(path);
            return new FileOutput(made, path, buffers);
        });
    }

    private FileChannel makeFile(Path path) throws IOException {
        try {
            return PrivateFiles.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        } catch (IOException e) {
            if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                noteChange(path);
            }
            throw e;
        }
    }

    @Override
    public Input open(String name) throws IOException {
        Path path = resolve(name);
        return new FileInput(FileChannel.open(path, StandardOpenOption.READ), path, name, buffers);
    }

    @Override
    public boolean exists(String name) throws IOException {
        try {
            Files.readAttributes(resolve(name), BasicFileAttributes.class);
            return true;
        } catch (NoSuchFileException e) {
            return false;
        }
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
            noteChange(source);
            noteChange(target);
            Files.move(source, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            inDoubt.remove(source);
            inDoubt.remove(target);
            return target;
        });
    }

    @Override
    public void link(String name, String further) throws IOException {
        Path source = resolve(name);
        Path target = resolve(further);
        changing(() -> {
            makeFolder(folderOf(target));
            noteChange(target);
            Files.createLink(target, source);
            inDoubt.remove(target);
            return target;
        });
    }

    @Override
    public void delete(String name) throws IOException {
        Path path = resolve(name);
        changing(() -> {
            deleteFile(path);
            noteDeletion(path);
            inDoubt.remove(path);
            return path;
        });
    }

    private void deleteFile(Path path) throws IOException {
        try {
            Files.delete(path);
        } catch (IOException e) {
            // Whoever deleted it before may not have forced its folder.
            if (Files.notExists(path, LinkOption.NOFOLLOW_LINKS) && Files.isDirectory(folderOf(path))) {
                noteDeletion(path);
            }
            throw e;
        }
    }

    @Override
    public List<String> list() throws IOException {
        return listFrom("");
    }

    @Override
    public void forEach(NameVisitor visitor) throws IOException {
        visit(root, "", "", visitor);
    }

    @Override
    public List<String> names() throws IOException {
        try (DirectoryStream<Path> entries = calls.read(root)) {
            List<String> names = new ArrayList<>();
            for (Path entry : entries) {
                if (Files.isRegularFile(entry, LinkOption.NOFOLLOW_LINKS)) {
                    names.add(entry.getFileName().toString());
                }
            }
            Collections.sort(names);
            return names;
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    @Override
    public Collection<String> entries(String folder) throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> entries = calls.read(folder.isEmpty() ? root : resolve(folder))) {
            entries.forEach(entry -> names.add(entry.getFileName().toString()));
        } catch (NoSuchFileException e) {
            if (Files.notExists(root)) {
                throw missing(root);
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return names;
    }

    @Override
    public List<String> listFrom(String from) throws IOException {
        List<String> names = new ArrayList<>();
        visit(root, "", from, names::add);
        Collections.sort(names);
        return names;
    }

    /** Visits the names in a folder that are not less than {@code from}. */
    private void visit(Path folder, String above, String from, NameVisitor visitor) throws IOException {
        try (DirectoryStream<Path> entries = calls.read(folder)) {
            for (Path entry : entries) {
                String name = above + entry.getFileName();
                String inside = name + "/";
                if (inside.compareTo(from) < 0 && !from.startsWith(inside)) {
                    continue; // This name is less than "from", and so is each that begins with it.
                }
                try {
                    visitEntry(entry, name, from, visitor);
                } catch (NoSuchFileException e) {
                    log.debug("{} was removed while its folder was read", name, e);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    private void visitEntry(Path entry, String name, String from, NameVisitor visitor) throws IOException {
        BasicFileAttributes attributes =
                Files.readAttributes(entry, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (attributes.isDirectory()) {
            visit(entry, name + "/", from, visitor);
        } else if (attributes.isRegularFile() && name.compareTo(from) >= 0) {
            visitor.visit(name);
        }
    }

    @Override
    public void trim(String name) throws IOException {
        Path path = resolve(name);
        long length = Files.size(path);
        try (Descriptor file = openExisting(path, Libc.O_WRONLY)) {
            if (file != null) {
                file.trim(length);
            }
        }
    }

    @Override
    public boolean release(String name, List<FileRange> ranges) throws IOException {
        Path path = resolve(name);
        return FullDisk.translating(() -> {
            try (Descriptor file = openExisting(path, Libc.O_WRONLY)) {
                return file != null && release(file, ranges);
            }
        });
    }

    @Override
    public boolean freesRanges(String name) throws IOException {
        Path path = resolve(name);
        if (Files.getFileStore(path).type().equals(FREES_WHOLE_EXTENTS)) {
            return false;
        }
        try (Descriptor file = openExisting(path, Libc.O_WRONLY)) {
            // Nothing is reserved so far behind the end. So this changes nothing, and shows whether it is possible.
            return file != null && file.release(new FileRange(Files.size(path) + FAR_BYTES, BLOCK_BYTES));
        }
    }

    private static boolean release(Descriptor file, List<FileRange> ranges) throws IOException {
        for (FileRange range : ranges) {
            if (!file.release(range)) {
                return false;
            }
        }
        file.force();
        return true;
    }

    @Override
    public long allocatedBytes(String name) throws IOException {
        Path path = resolve(name);
        try (Descriptor file = openExisting(path, Libc.O_RDONLY)) {
            long bytes = file == null ? -1 : file.allocatedBytes();
            return bytes < 0 ? Files.size(path) : bytes;
        }
    }

    /**
     * Opens a file through the C library; returns null where that cannot be called.
     *
     * @throws NoSuchFileException if the file is missing
     */
    private static @Nullable Descriptor openExisting(Path path, int flags) throws IOException {
        Descriptor file = Descriptor.open(path, flags);
        if (file == null) {
            int errno = Libc.errno();
            Files.size(path);
            if (Libc.loaded() != null) {
                throw new IOException(path + " cannot be opened: " + SystemError.words(errno));
            }
        }
        return file;
    }

    @Override
    public void sync() throws IOException {
        syncing.lock();
        try {
            // Each folder, also when one fails: a name in one that was not tried would be neither durable nor in doubt.
            Closing each = new Closing();
            takeChanged().forEach((folder, entries) -> each.run(() -> force(folder, entries)));
            each.finish();
        } finally {
            syncing.unlock();
        }
    }

    private void force(Path folder, Set<Path> entries) throws IOException {
        try {
            calls.force(folder);
        } catch (IOException e) {
            changing.writeLock().lock();
            try {
                // Also those that were made since the force began: it may have been theirs that failed.
                Set<Path> unforced = changes(folder);
                unforced.addAll(entries);
                unforced.forEach(entry -> inDoubt.put(entry, e));
            } finally {
                changing.writeLock().unlock();
            }
            throw e;
        }
    }

    private Map<Path, Set<Path>> takeChanged() {
        changing.writeLock().lock();
        try {
            Map<Path, Set<Path>> taken = new HashMap<>(changed);
            changed.clear();
            return taken;
        } finally {
            changing.writeLock().unlock();
        }
    }

    private void noteChange(Path path) {
        changes(folderOf(path)).add(path);
    }

    /** Notes that the folder must be forced. No name is in doubt if that fails. */
    private void noteDeletion(Path path) {
        changes(folderOf(path)).remove(path);
    }

    /** Returns how many entries it remembers until their folders are forced. */
    int remembered() {
        return changed.values().stream().mapToInt(Set::size).sum();
    }

    private Set<Path> changes(Path folder) {
        return changed.computeIfAbsent(folder, made -> ConcurrentHashMap.newKeySet());
    }

    @Override
    public void checkName(String name) throws IOException {
        if (inDoubt.isEmpty()) {
            return;
        }
        for (Path path = resolve(name); !path.equals(root); path = folderOf(path)) {
            IOException failure = inDoubt.get(path);
            if (failure != null) {
                throw new IOException(
                        path + " may be lost after a power cut, because its folder could not be written to the disk: "
                                + failure.getMessage(),
                        failure);
            }
        }
    }

    @Override
    public long usableBytes() throws IOException {
        return FileDevice.of(root).usableBytes();
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
     * Makes a folder inside this directory, and its missing parents. Each is a new entry of its parent, which
     * {@link #sync} must make durable.
     *
     * @throws NoSuchFileException if the directory itself is missing: something removed it, and whoever finds it again
     *     must not take it for a directory that was never filled
     */
    private void makeFolder(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            return;
        }
        if (folder.equals(root)) {
            throw missing(root);
        }
        Path above = folderOf(folder);
        makeFolder(above);
        try {
            calls.create(folder);
        } catch (FileAlreadyExistsException raced) {
            if (!Files.isDirectory(folder)) {
                throw raced;
            }
        } catch (IOException e) {
            if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
                noteChange(folder);
            }
            throw e;
        }
        noteChange(folder);
    }

    /** Runs an action that changes and records entries of folders, under the shared lock. */
    private <T> T changing(Answer<T> action) throws IOException {
        changing.readLock().lock();
        try {
            return FullDisk.translating(action);
        } finally {
            changing.readLock().unlock();
        }
    }
}
