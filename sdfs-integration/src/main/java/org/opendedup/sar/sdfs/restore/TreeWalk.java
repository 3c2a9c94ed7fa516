package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.sdfs.restore.TreeEntry.ExtendedAttribute;
import org.opendedup.sar.volume.Attributes;
import org.opendedup.sar.volume.Volume;

/** Goes over a tree of a volume, folders before what is in them. What is removed meanwhile is left out. */
final class TreeWalk {
    /** Names of a folder that are in memory at a time. */
    private static final int BATCH = 256;

    private final Volume volume;
    private final Visitor visitor;

    /** Takes an entry; its inode is in use until it returns. */
    @FunctionalInterface
    interface Visitor {
        void visit(TreeEntry entry) throws IOException;
    }

    TreeWalk(Volume volume, Visitor visitor) {
        this.volume = volume;
        this.visitor = visitor;
    }

    /** @param inode the tree's root, in use by the caller */
    void walk(long inode) throws IOException {
        walk(inode, new byte[0]);
    }

    private void walk(long inode, byte[] path) throws IOException {
        TreeEntry entry = entry(volume.attributes(inode), path);
        visitor.visit(entry);
        if (!entry.isDirectory()) {
            return;
        }
        List<byte[]> names = new ArrayList<>();
        long cookie = 0;
        do {
            names.clear();
            cookie = list(inode, cookie, names);
            for (byte[] name : names) {
                walkChild(inode, name, child(path, name));
            }
        } while (!names.isEmpty());
    }

    /** Gathers the names behind a cookie; returns the one behind the last of them. */
    private long list(long directory, long cookie, List<byte[]> names) throws IOException {
        long[] last = {cookie};
        volume.list(directory, cookie, false, (name, inode, type, behind, attributes) -> {
            if (names.size() == BATCH) {
                return false;
            }
            last[0] = behind;
            if (!isSelfOrParent(name)) {
                names.add(name);
            }
            return true;
        });
        return last[0];
    }

    private static boolean isSelfOrParent(byte[] name) {
        return name[0] == '.' && (name.length == 1 || name.length == 2 && name[1] == '.');
    }

    private void walkChild(long directory, byte[] name, byte[] path) throws IOException {
        long inode;
        try {
            inode = volume.lookup(directory, name).inode();
        } catch (PosixException e) {
            if (e.reason() == PosixException.Reason.ENOENT) {
                return;
            }
            throw e;
        }
        try {
            walk(inode, path);
        } finally {
            volume.forget(inode, 1);
        }
    }

    private static byte[] child(byte[] path, byte[] name) {
        if (path.length == 0) {
            return name;
        }
        byte[] child = Arrays.copyOf(path, path.length + 1 + name.length);
        child[path.length] = '/';
        System.arraycopy(name, 0, child, path.length + 1, name.length);
        return child;
    }

    private TreeEntry entry(Attributes attributes, byte[] path) throws IOException {
        long inode = attributes.inode();
        return new TreeEntry(
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
                path,
                TreeEntry.isSymbolicLink(attributes.mode()) ? volume.readSymbolicLink(inode) : new byte[0],
                extendedAttributes(inode));
    }

    private List<ExtendedAttribute> extendedAttributes(long inode) throws IOException {
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
