package org.opendedup.sar.restore.tree;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.record.Inode;

/**
 * Goes through a tree of folders from one of its files on, in one order, and names the regular files. Reads the names
 * without a lock: they are a hint. For one thread.
 */
public final class TreeWalk {
    /** Most entries in memory, 8 bytes each. Those of the outermost folders are read again when they are needed. */
    private static final int MAX_HELD = 2 * FolderEntries.MAX_ENTRIES;

    /**
     * Folders without a file, one after the other, at which the walk ends: whoever waits for the next file does not
     * wait for millions of empty folders.
     */
    static final int MOST_WITHOUT_FILES = 1024;

    private final Namespace names;
    private final TreeOrder order;
    private final long top;
    /** The folders that are not finished, the innermost first. */
    private final Deque<Level> levels = new ArrayDeque<>();

    private int held;

    private static final class Level {
        private final long folder;
        private final long[] entries;
        private int next;

        Level(long folder, long[] entries) {
            this.folder = folder;
            this.entries = entries;
        }

        boolean skipTo(long inode) {
            while (next < entries.length) {
                if (FolderEntries.inode(entries[next++]) == inode) {
                    return true;
                }
            }
            return false;
        }
    }

    /**
     * Begins behind a file.
     *
     * @param top the folder that the walk does not leave
     * @param folder folder of the file; below {@code top}, or the same
     */
    public TreeWalk(Namespace names, TreeOrder order, long top, long folder, long file) throws IOException {
        this(names, order, top, folder, file, FolderEntries.read(names, folder));
    }

    /** @param entries what was read of the folder */
    TreeWalk(Namespace names, TreeOrder order, long top, long folder, long file, FolderEntries entries) {
        this.names = names;
        this.order = order;
        this.top = top;
        enter(folder, entries).skipTo(file);
    }

    private Level enter(long folder, FolderEntries entries) {
        Level level = new Level(folder, entries.in(order));
        levels.push(level);
        held += level.entries.length;
        while (held > MAX_HELD && levels.size() > 1) {
            held -= levels.removeLast().entries.length;
        }
        return level;
    }

    /** Returns the inode of the next regular file; 0 at the end, which many folders without files are as well. */
    public long next() throws IOException {
        int entered = 0;
        while (!levels.isEmpty() && entered <= MOST_WITHOUT_FILES) {
            Level level = levels.getFirst();
            if (level.next == level.entries.length) {
                leave(level);
                continue;
            }
            long entry = level.entries[level.next++];
            if (!FolderEntries.isFolder(entry)) {
                return FolderEntries.inode(entry);
            }
            enter(FolderEntries.inode(entry), FolderEntries.read(names, FolderEntries.inode(entry)));
            entered++;
        }
        levels.clear();
        held = 0;
        return 0;
    }

    /** Heap bytes of the entries in memory. */
    long heapBytes() {
        return (long) held * Long.BYTES;
    }

    private void leave(Level level) throws IOException {
        held -= levels.pop().entries.length;
        if (level.folder == top) {
            levels.clear();
        } else if (levels.isEmpty()) {
            long parent = parent(names, level.folder);
            // A folder that was moved meanwhile is not found there: then nothing follows.
            if (parent != 0) {
                enter(parent, FolderEntries.read(names, parent)).skipTo(level.folder);
            }
        }
    }

    /** Returns the folder that has a folder; 0 if none has, or it is not known yet. */
    static long parent(Namespace names, long folder) throws IOException {
        Inode inode = names.inode(folder);
        return inode == null || inode.parent() == folder ? 0 : inode.parent();
    }
}
