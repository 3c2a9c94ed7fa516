package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.InodeState.Extended;

/**
 * Walks a tree of a volume, folders ahead of their entries. Follows no symbolic links. Leaves out entries that are
 * removed during the walk; reports those that cannot be read, and what lies in too many folders. Any user can nest
 * folders to any depth, so the memory for a folder on the way is small and the number of them is bounded.
 */
public final class TreeWalk {
    /** Names of a folder that are listed in one call. */
    private static final int BATCH = 256;
    /** Names in memory, of all folders on the current path; beyond it, the upper folders are listed again later. */
    private static final int MAX_NAMES = 1 << 15;
    /** Folders on the current path, 50 bytes of memory each. A path that a program can name has at most 2,048. */
    private static final int MAX_DEPTH = 1 << 17;

    private final Volume volume;
    private final Visitor visitor;
    private final int maxDepth;
    /** The folders from the tree's root to the current position. */
    private final List<Folder> way = new ArrayList<>();
    /** Number of names in memory, of all these folders. */
    private int names;
    /** Index on the path of the first folder that may have names in memory. */
    private int firstWithNames;

    /** Receives what the walk finds. */
    public interface Visitor {
        /**
         * Visits an entry; its inode is in use until this returns.
         *
         * @return its number, which its own entries get as their {@linkplain TreeEntry#parent parent};
         *     {@link TreeEntry#NONE} to leave them out
         */
        long visit(TreeEntry entry) throws IOException;

        /**
         * Reports something that cannot be read, or lies too deep.
         *
         * @param parent number of the folder that contains it
         * @param name its name; null if the rest of the folder's names cannot be read
         */
        void unreadable(long parent, byte @Nullable [] name, IOException why) throws IOException;
    }

    /** A folder whose entries are being visited. */
    private static final class Folder {
        final long inode;
        final long number;
        /** Names that are not visited yet; null if none are in memory. */
        @Nullable
        Deque<Named> names;
        /** Position after the last name that was visited. */
        long cookie;

        Folder(long inode, long number) {
            this.inode = inode;
            this.number = number;
        }

        int held() {
            return names == null ? 0 : names.size();
        }

        @Nullable
        Named poll() {
            Named next = names == null ? null : names.poll();
            if (held() == 0) {
                names = null;
            }
            return next;
        }
    }

    private record Named(byte[] name, long cookie) {}

    public TreeWalk(Volume volume, Visitor visitor) {
        this(volume, visitor, MAX_DEPTH);
    }

    TreeWalk(Volume volume, Visitor visitor, int maxDepth) {
        this.volume = volume;
        this.visitor = visitor;
        this.maxDepth = maxDepth;
    }

    /** Returns the root of a tree. */
    static TreeEntry root(Volume volume, long inode) throws IOException {
        return entry(volume, volume.attributes(inode), TreeEntry.NONE, new byte[0]);
    }

    /** @param inode the tree's root, in use by the caller */
    public void walk(long inode) throws IOException {
        TreeEntry root = root(volume, inode);
        long number = visitor.visit(root);
        if (!root.isDirectory()) {
            return;
        }
        way.add(new Folder(inode, number));
        try {
            while (!way.isEmpty()) {
                Folder folder = way.get(way.size() - 1);
                Named next = next(folder);
                if (next == null) {
                    leave();
                } else {
                    visitChild(folder, next.name);
                }
            }
        } finally {
            while (!way.isEmpty()) {
                leave();
            }
        }
    }

    private void leave() {
        Folder left = way.remove(way.size() - 1);
        names -= left.held();
        firstWithNames = Math.min(firstWithNames, way.size());
        if (!way.isEmpty()) {
            volume.forget(left.inode, 1);
        }
    }

    private @Nullable Named next(Folder folder) throws IOException {
        if (folder.held() == 0) {
            try {
                list(folder);
            } catch (InterruptedIOException e) {
                throw e;
            } catch (IOException e) {
                visitor.unreadable(folder.number, null, e);
            }
        }
        Named next = folder.poll();
        if (next != null) {
            names--;
            folder.cookie = next.cookie;
        }
        return next;
    }

    /** Lists some names of a folder. What cannot be read behind them fails the next call, which begins there. */
    private void list(Folder folder) throws IOException {
        Deque<Named> found = new ArrayDeque<>();
        try {
            list(folder, found);
        } catch (IOException e) {
            if (found.isEmpty() || e instanceof InterruptedIOException) {
                throw e;
            }
        }
        folder.names = found;
        names += found.size();
        firstWithNames = Math.min(firstWithNames, way.size() - 1);
        dropNames();
    }

    private void list(Folder folder, Deque<Named> found) throws IOException {
        long[] last = {folder.cookie};
        do {
            int[] listed = {0};
            volume.list(folder.inode, last[0], false, (name, inode, type, nextCookie, attributes) -> {
                if (listed[0]++ == BATCH) {
                    return false;
                }
                last[0] = nextCookie;
                if (!EntryNames.isSelf(name) && !EntryNames.isParent(name)) {
                    found.add(new Named(name, nextCookie));
                }
                return true;
            });
            if (listed[0] == 0) {
                break;
            }
        } while (found.isEmpty());
    }

    private void dropNames() {
        for (; names > MAX_NAMES && firstWithNames < way.size() - 1; firstWithNames++) {
            Folder folder = way.get(firstWithNames);
            names -= folder.held();
            folder.names = null;
        }
    }

    private void visitChild(Folder folder, byte[] name) throws IOException {
        Attributes attributes;
        try {
            attributes = volume.lookup(folder.inode, name);
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            if (!isGone(e)) {
                visitor.unreadable(folder.number, name, e);
            }
            return;
        }
        long inode = attributes.inode();
        boolean isEntered = false;
        try {
            TreeEntry entry = read(folder, name, attributes);
            long number = entry == null ? TreeEntry.NONE : visitor.visit(entry);
            boolean isFolder = entry != null && entry.isDirectory() && number != TreeEntry.NONE;
            if (isFolder && way.size() >= maxDepth) {
                visitor.unreadable(
                        folder.number,
                        name,
                        new IOException("it lies in " + way.size() + " folders, and is not entered"));
            } else if (isFolder) {
                way.add(new Folder(inode, number));
                isEntered = true;
            }
        } finally {
            if (!isEntered) {
                volume.forget(inode, 1);
            }
        }
    }

    /** Returns an entry; null, and reports it, if it cannot be read. */
    private @Nullable TreeEntry read(Folder folder, byte[] name, Attributes attributes) throws IOException {
        try {
            TreeEntry entry = entry(volume, attributes, folder.number, name);
            NewEntry.name(entry);
            return entry;
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            visitor.unreadable(folder.number, name, e);
            return null;
        }
    }

    private static boolean isGone(IOException failure) {
        return failure instanceof PosixException posix && posix.reason() == PosixException.Reason.ENOENT;
    }

    private static TreeEntry entry(Volume volume, Attributes attributes, long parent, byte[] name) throws IOException {
        long inode = attributes.inode();
        return new TreeEntry(
                parent,
                name,
                inode,
                attributes.mode(),
                attributes.links(),
                attributes.uid(),
                attributes.gid(),
                attributes.device(),
                attributes.size(),
                attributes.accessedNs(),
                attributes.modifiedNs(),
                attributes.changedNs(),
                TreeEntry.isSymbolicLink(attributes.mode()) ? volume.readSymbolicLink(inode) : new byte[0],
                extendedAttributes(volume, inode));
    }

    static List<Extended> extendedAttributes(Volume volume, long inode) throws IOException {
        var found = new ArrayList<Extended>();
        for (byte[] name : volume.extendedAttributes(inode)) {
            byte[] value = volume.extendedAttribute(inode, name);
            if (value != null) {
                found.add(new Extended(name, value));
            }
        }
        return found;
    }
}
