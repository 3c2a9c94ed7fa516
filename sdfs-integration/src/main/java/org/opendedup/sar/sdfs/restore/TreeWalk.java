package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.EntryNames;
import org.opendedup.sar.sdfs.restore.TreeEntry.ExtendedAttribute;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.posix.Attributes;

/**
 * Walks a tree of a volume of any depth, folders ahead of their entries. Leaves out entries that are removed during the
 * walk; reports damaged ones.
 */
final class TreeWalk {
    /** Names of a folder that are listed in one call. */
    private static final int BATCH = 256;
    /** Names in memory, of all folders on the current path; beyond it, the upper folders are listed again later. */
    private static final int MAX_NAMES = 1 << 15;

    private final Volume volume;
    private final Visitor visitor;
    /** The folders from the tree's root to the current position. */
    private final List<Folder> way = new ArrayList<>();
    /** Number of names in memory, of all these folders. */
    private int names;
    /** Index on the path of the first folder that may have names in memory. */
    private int firstWithNames;

    /** Receives what the walk finds. */
    interface Visitor {
        /**
         * Visits an entry; its inode is in use until this returns.
         *
         * @return its number, which its own entries get as their {@linkplain TreeEntry#parent parent}
         */
        long visit(TreeEntry entry) throws IOException;

        /**
         * Reports something that cannot be read.
         *
         * @param parent number of the folder that contains it
         * @param name its name; null if the list of the folder's names is damaged
         */
        void damaged(long parent, byte @Nullable [] name, CorruptionException why) throws IOException;
    }

    /** A folder whose entries are being visited. */
    private static final class Folder {
        final long inode;
        final long number;
        final Deque<Named> names = new ArrayDeque<>();
        /** Position after the last name that was visited. */
        long cookie;

        Folder(long inode, long number) {
            this.inode = inode;
            this.number = number;
        }
    }

    private record Named(byte[] name, long cookie) {}

    TreeWalk(Volume volume, Visitor visitor) {
        this.volume = volume;
        this.visitor = visitor;
    }

    /** Returns the root of a tree. */
    static TreeEntry root(Volume volume, long inode) throws IOException {
        return entry(volume, volume.attributes(inode), TreeEntry.NONE, new byte[0]);
    }

    /** @param inode the tree's root, in use by the caller */
    void walk(long inode) throws IOException {
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
        names -= left.names.size();
        firstWithNames = Math.min(firstWithNames, way.size());
        if (!way.isEmpty()) {
            volume.forget(left.inode, 1);
        }
    }

    private @Nullable Named next(Folder folder) throws IOException {
        if (folder.names.isEmpty()) {
            try {
                list(folder);
            } catch (CorruptionException e) {
                visitor.damaged(folder.number, null, e);
            }
        }
        Named next = folder.names.poll();
        if (next != null) {
            names--;
            folder.cookie = next.cookie;
        }
        return next;
    }

    private void list(Folder folder) throws IOException {
        long[] last = {folder.cookie};
        do {
            int[] listed = {0};
            volume.list(folder.inode, last[0], false, (name, inode, type, nextCookie, attributes) -> {
                if (listed[0]++ == BATCH) {
                    return false;
                }
                last[0] = nextCookie;
                if (!EntryNames.isSelf(name) && !EntryNames.isParent(name)) {
                    folder.names.add(new Named(name, nextCookie));
                }
                return true;
            });
            if (listed[0] == 0) {
                break;
            }
        } while (folder.names.isEmpty());
        names += folder.names.size();
        firstWithNames = Math.min(firstWithNames, way.size() - 1);
        dropNames();
    }

    private void dropNames() {
        for (; names > MAX_NAMES && firstWithNames < way.size() - 1; firstWithNames++) {
            Folder folder = way.get(firstWithNames);
            names -= folder.names.size();
            folder.names.clear();
        }
    }

    private void visitChild(Folder folder, byte[] name) throws IOException {
        long inode = 0;
        boolean isLookedUp = false;
        boolean isEntered = false;
        try {
            Attributes attributes = volume.lookup(folder.inode, name);
            inode = attributes.inode();
            isLookedUp = true;
            TreeEntry entry = entry(volume, attributes, folder.number, name);
            long number = visitor.visit(entry);
            if (entry.isDirectory()) {
                way.add(new Folder(inode, number));
                isEntered = true;
            }
        } catch (CorruptionException e) {
            visitor.damaged(folder.number, name, e);
        } catch (PosixException e) {
            if (isLookedUp || e.reason() != PosixException.Reason.ENOENT) {
                throw e;
            }
        } finally {
            if (isLookedUp && !isEntered) {
                volume.forget(inode, 1);
            }
        }
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

    private static List<ExtendedAttribute> extendedAttributes(Volume volume, long inode) throws IOException {
        var found = new ArrayList<ExtendedAttribute>();
        for (byte[] name : volume.extendedAttributes(inode)) {
            byte[] value = volume.extendedAttribute(inode, name);
            if (value != null) {
                found.add(new ExtendedAttribute(name, value));
            }
        }
        return found;
    }
}
