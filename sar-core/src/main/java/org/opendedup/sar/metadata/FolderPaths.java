package org.opendedup.sar.metadata;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.SnapshotIds;

/**
 * Finds the paths of folders, in the present tree and in those of snapshots, by the parents of folders and by the names
 * in these. A folder that is listed for the name of one folder in it tells those of the others, too. Paths and names
 * are remembered, at most {@value #MOST_BYTES} bytes of each with what the heap needs for them: one with more than some
 * 70 000 folders is listed several times. For one thread.
 */
public final class FolderPaths {
    /**
     * Bytes of the names of a path, at most; of a longer one, three dots and the last names are told. Also ends a
     * circle of folders.
     */
    public static final int MAX_BYTES = 4096;

    private static final int MOST_BYTES = 8 << 20;
    /** Bytes of the heap, about, that an entry of a map takes besides its name. */
    private static final int ENTRY_BYTES = 100;

    private static final Path ROOT = new Path(new byte[0], true);
    private static final Path UNREACHED = new Path(bytes("/..."), false);
    private static final Path LONG = new Path(bytes("/..."), true);

    /**
     * The path of a folder from the root of its tree.
     *
     * @param bytes a slash before each name; the root directory has none
     * @param isReached whether the root leads to the folder; if not, the path begins with three dots
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Path(byte[] bytes, boolean isReached) {
        /** Returns the path of a name in the folder. */
        public byte[] of(byte[] name) {
            byte[] path = new byte[bytes.length + 1 + name.length];
            System.arraycopy(bytes, 0, path, 0, bytes.length);
            path[bytes.length] = '/';
            System.arraycopy(name, 0, path, bytes.length + 1, name.length);
            return path;
        }
    }

    /** What is remembered of folders, by their inode numbers; all is forgotten when it is too much. */
    private static final class Memory<T> {
        private final Map<Long, T> known = new HashMap<>();
        private int bytes;

        boolean isFull() {
            return bytes >= MOST_BYTES;
        }

        void put(long folder, T what, int length) {
            if (known.put(folder, what) == null) {
                bytes += length + ENTRY_BYTES;
            }
        }

        void clear() {
            known.clear();
            bytes = 0;
        }
    }

    private final Namespace namespace;
    private final Memory<Path> paths = new Memory<>();
    private final Memory<byte[]> names = new Memory<>();

    public FolderPaths(Namespace namespace) {
        this.namespace = namespace;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Returns the path of a folder.
     *
     * @param folder its inode number; that of one in a snapshot gives the path in the tree of the snapshot
     */
    public Path of(long folder) throws IOException {
        Deque<byte[]> below = new ArrayDeque<>();
        int length = 0;
        long at = folder;
        Path top = known(at, 0);
        while (top == null) {
            Inode inode = namespace.inode(at);
            byte[] name = inode == null ? null : nameIn(inode.parent(), at);
            if (inode == null || name == null) {
                top = UNREACHED;
            } else if (length + name.length + 1 > MAX_BYTES) {
                top = LONG;
            } else {
                below.push(name);
                length += name.length + 1;
                at = inode.parent();
                top = known(at, length);
            }
        }
        if (below.isEmpty()) {
            return top;
        }
        Path path = new Path(joined(top, below), top.isReached);
        if (paths.isFull()) {
            paths.clear();
        }
        paths.put(folder, path, path.bytes.length);
        return path;
    }

    /** Returns the path of a folder that has {@code length} bytes of names below it; null if it must be found. */
    private @Nullable Path known(long folder, int length) {
        if (SnapshotIds.inode(folder) == Inode.ROOT) {
            return ROOT;
        }
        Path path = paths.known.get(folder);
        return path == null || path.bytes.length + length > MAX_BYTES ? null : path;
    }

    private static byte[] joined(Path top, Deque<byte[]> below) {
        ByteArrayOutputStream path = new ByteArrayOutputStream();
        path.writeBytes(top.bytes);
        for (byte[] name : below) {
            path.write('/');
            path.writeBytes(name);
        }
        return path.toByteArray();
    }

    private byte @Nullable [] nameIn(long parent, long folder) throws IOException {
        byte[] known = names.known.get(folder);
        if (known != null) {
            return known;
        }
        if (names.isFull()) {
            names.clear();
        }
        byte[][] found = new byte[1][];
        namespace.list(parent, 0, (name, inode, type, cookie) -> {
            if (inode == folder) {
                found[0] = name;
            }
            if (Modes.isDirectory(type) && !names.isFull()) {
                names.put(inode, name, name.length);
            }
            return found[0] == null || !names.isFull();
        });
        return found[0];
    }
}
