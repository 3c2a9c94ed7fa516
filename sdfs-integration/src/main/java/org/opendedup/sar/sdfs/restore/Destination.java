package org.opendedup.sar.sdfs.restore;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.opendedup.sar.sdfs.restore.TreeEntry.ExtendedAttribute;

/**
 * The place that a tree is restored to. While that goes on, folders and files there are their owner's alone; {@link #finish} gives
 * them what they had. Never follows a symbolic link. Safe for use by many threads.
 */
final class Destination implements Closeable {
    /** Files kept open: chunks of one container mostly go to few files. */
    private static final int MAX_OPEN = 128;

    private static final int BUFFER_BYTES = 256 << 10;
    private static final int NANOS = 1_000_000_000;
    private static final int SET_USER_AND_GROUP_ID = 06000;

    private final PosixCalls posix;
    private final byte[] root;
    private final byte[] parent;

    /** Guarded by this, as are the open files. */
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);

    private final long address;

    private final Map<Long, Integer> open = new LinkedHashMap<>(16, 0.75f, true);

    /** @param root where the tree's root goes: an absolute path, and not {@code /} */
    Destination(Path root, PosixCalls posix) {
        this.posix = posix;
        this.root = root.toString().getBytes(StandardCharsets.UTF_8);
        this.parent = Objects.requireNonNull(root.getParent()).toString().getBytes(StandardCharsets.UTF_8);
        address = posix.address(buffer);
    }

    /** Where an entry goes. */
    private byte[] path(TreeEntry entry) {
        byte[] within = entry.path();
        if (within.length == 0) {
            return PosixCalls.terminated(root);
        }
        byte[] path = Arrays.copyOf(root, root.length + 1 + within.length + 1);
        path[root.length] = '/';
        System.arraycopy(within, 0, path, root.length + 1, within.length);
        return path;
    }

    /** The path of an entry for messages. */
    String text(TreeEntry entry) {
        return PosixCalls.text(path(entry));
    }

    /** Makes a folder, an empty file of the right length, a symbolic link, or a node. */
    void make(TreeEntry entry) throws IOException {
        byte[] path = path(entry);
        if (entry.isRegular()) {
            makeFile(entry, path);
        } else if (entry.isDirectory()) {
            makeFolder(entry, path);
        } else if (entry.isSymbolicLink()) {
            check(posix.functions().symlink(PosixCalls.terminated(entry.target()), path), "making the link", path);
        } else {
            check(posix.functions().mknod(path, entry.mode(), entry.device()), "making the node", path);
        }
    }

    /** The root may be there, empty; from now on nobody else gets in, to put links in the way. */
    private void makeFolder(TreeEntry entry, byte[] path) throws IOException {
        boolean isTreeRoot = entry.path().length == 0;
        int made = posix.functions().mkdir(path, 0700);
        if (!(isTreeRoot && made != 0 && posix.errno() == PosixCalls.EEXIST)) {
            check(made, "making the folder", path);
        }
        if (made != 0 && posix.functions().chmod(path, 0700) != 0) {
            throw posix.failure("changing the mode of", path);
        }
    }

    private void makeFile(TreeEntry entry, byte[] path) throws IOException {
        int fd = open(path, PosixCalls.O_CREAT | PosixCalls.O_EXCL);
        try {
            if (posix.functions().ftruncate(fd, entry.size()) != 0) {
                throw posix.failure("making room for", path);
            }
        } finally {
            posix.functions().close(fd);
        }
    }

    private int open(byte[] path, int flags) throws IOException {
        int all = flags | PosixCalls.O_WRONLY | PosixCalls.O_NOFOLLOW | PosixCalls.O_CLOEXEC;
        int fd = posix.functions().open(path, all, 0600);
        if (fd < 0 && posix.errno() == PosixCalls.EACCES) {
            // An earlier restore has given it its mode already.
            posix.functions().chmod(path, 0600);
            fd = posix.functions().open(path, all, 0600);
        }
        if (fd < 0) {
            throw posix.failure("opening", path);
        }
        return fd;
    }

    /** Gives what was made another name. */
    void link(TreeEntry made, TreeEntry name) throws IOException {
        byte[] path = path(name);
        check(posix.functions().link(path(made), path), "making the link", path);
    }

    private void check(int result, String what, byte[] path) throws IOException {
        if (result != 0) {
            throw posix.failure(what, path);
        }
    }

    /** Whether what an earlier restore made is there: files with their length. Folders are opened to their owner again. */
    boolean isStillThere(TreeEntry entry) throws IOException {
        byte[] path = path(entry);
        if (!exists(path)) {
            return false;
        }
        if (entry.isDirectory()) {
            return posix.functions().chmod(path, 0700) == 0;
        }
        return !entry.isRegular() || hasLength(path, entry.size());
    }

    private boolean hasLength(byte[] path, long length) throws IOException {
        int fd = open(path, 0);
        try {
            return posix.functions().lseek(fd, 0, PosixCalls.SEEK_END) == length;
        } finally {
            posix.functions().close(fd);
        }
    }

    /** Tells the entry of a number. */
    @FunctionalInterface
    interface Entries {
        TreeEntry of(long number) throws IOException;
    }

    /** Writes bytes of a file. */
    synchronized void write(long number, Entries entries, long offset, byte[] data, int from, int length)
            throws IOException {
        int fd = opened(number, entries);
        for (int done = 0; done < length; ) {
            int count = Math.min(BUFFER_BYTES, length - done);
            buffer.clear();
            buffer.put(data, from + done, count);
            writeBuffer(fd, number, entries, offset + done, count);
            done += count;
        }
    }

    private void writeBuffer(int fd, long number, Entries entries, long offset, int count) throws IOException {
        for (int done = 0; done < count; ) {
            long written = posix.functions().pwrite(fd, address + done, count - done, offset + done);
            if (written <= 0) {
                throw posix.failure("writing to", path(entries.of(number)));
            }
            done += (int) written;
        }
    }

    private int opened(long number, Entries entries) throws IOException {
        Integer known = open.get(number);
        if (known != null) {
            return known;
        }
        if (open.size() == MAX_OPEN) {
            Map.Entry<Long, Integer> oldest = open.entrySet().iterator().next();
            posix.functions().close(oldest.getValue());
            open.remove(oldest.getKey());
        }
        int fd = open(path(entries.of(number)), 0);
        open.put(number, fd);
        return fd;
    }

    /**
     * Gives an entry its owner, mode, extended attributes and times. Folders come after what is in them.
     *
     * @return how many of these the file system or this user's rights do not allow; without the owner it does not get the bits
     *     that set user and group ids either
     */
    int finish(TreeEntry entry) throws IOException {
        byte[] path = path(entry);
        if (entry.isLinked() && !exists(path)) {
            // Removed from the volume before its bytes were found.
            return 0;
        }
        boolean owned =
                isTaken(posix.functions().lchown(path, entry.uid(), entry.gid()), "changing the owner of", path);
        int lost = owned ? 0 : 1;
        // Before the mode, which may forbid to write.
        for (ExtendedAttribute attribute : entry.extendedAttributes()) {
            lost += set(path, attribute) ? 0 : 1;
        }
        if (!entry.isSymbolicLink()) {
            // Programs would run with the rights of another owner than they had.
            int mode = owned ? entry.permissions() : entry.permissions() & ~SET_USER_AND_GROUP_ID;
            lost += isTaken(posix.functions().chmod(path, mode), "changing the mode of", path) ? 0 : 1;
        }
        long[] times = {
            Math.floorDiv(entry.accessedNs(), NANOS), Math.floorMod(entry.accessedNs(), NANOS),
            Math.floorDiv(entry.modifiedNs(), NANOS), Math.floorMod(entry.modifiedNs(), NANOS)
        };
        if (posix.functions().utimensat(PosixCalls.AT_FDCWD, path, times, PosixCalls.AT_SYMLINK_NOFOLLOW) != 0) {
            throw posix.failure("setting the times of", path);
        }
        return lost;
    }

    private boolean set(byte[] path, ExtendedAttribute attribute) throws IOException {
        byte[] name = PosixCalls.terminated(attribute.name());
        byte[] value = attribute.value();
        int result = posix.functions().lsetxattr(path, name, value, value.length, 0);
        return (result == 0 || posix.errno() != PosixCalls.ENOSPC)
                && isTaken(result, "setting the attribute " + PosixCalls.text(name) + " of", path);
    }

    /** False if the file system or this user's rights do not allow it; any other failure is thrown. */
    private boolean isTaken(int result, String what, byte[] path) throws IOException {
        if (result == 0) {
            return true;
        }
        return switch (posix.errno()) {
            case PosixCalls.EPERM, PosixCalls.EACCES, PosixCalls.EINVAL, PosixCalls.EOPNOTSUPP -> false;
            default -> throw posix.failure(what, path);
        };
    }

    private boolean exists(byte[] path) {
        int flags = PosixCalls.AT_SYMLINK_NOFOLLOW;
        return posix.functions().faccessat(PosixCalls.AT_FDCWD, path, PosixCalls.F_OK, flags) == 0;
    }

    /** Makes durable what was written and made so far. */
    synchronized void sync() throws IOException {
        byte[] path = PosixCalls.terminated(root);
        int flags = PosixCalls.O_RDONLY | PosixCalls.O_DIRECTORY | PosixCalls.O_NOFOLLOW | PosixCalls.O_CLOEXEC;
        int fd = posix.functions().open(path, flags, 0);
        if (fd < 0) {
            // The tree is a single file; or there is nothing yet.
            path = PosixCalls.terminated(parent);
            fd = posix.functions().open(path, flags & ~PosixCalls.O_NOFOLLOW, 0);
        }
        if (fd < 0) {
            throw posix.failure("opening", path);
        }
        try {
            if (posix.functions().syncfs(fd) != 0) {
                throw posix.failure("syncing", path);
            }
        } finally {
            posix.functions().close(fd);
        }
    }

    /** Closes the files that are open. */
    @Override
    public synchronized void close() {
        open.values().forEach(posix.functions()::close);
        open.clear();
    }
}
