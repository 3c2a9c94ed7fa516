package org.opendedup.sar.volume.names;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.posix.RenameMode;

/** Which changes of names POSIX allows. Those that look at names are asked under the lock of the names. */
record NameRules(Namespace namespace, NodeTable nodes) {
    /**
     * Maximum number of names of a file, as in ext4. The number of subdirectories of a directory is limited only by the
     * range of its link count.
     */
    private static final int MAX_LINKS = 65_000;
    /**
     * Maximum number of directories above a directory into which another one is moved: twice as many as a path can
     * have.
     */
    static final int MAX_DEPTH = 4096;

    static PosixException refuse(Reason reason, byte[] name) {
        return new PosixException(reason, new String(name, UTF_8));
    }

    /** Throws if a file cannot have a name. */
    static void checkName(byte[] name) throws PosixException {
        if (name.length > EntryNames.MAX_BYTES) {
            throw refuse(Reason.ENAMETOOLONG, name);
        }
        if (!EntryNames.isValid(name)) {
            throw refuse(Reason.EINVAL, name);
        }
    }

    /** Throws if a file gets no further name, or a directory no further subdirectory. */
    static void checkLinks(Node node, byte[] name) throws PosixException {
        synchronized (node) {
            if (node.links >= (node.isDirectory() ? Integer.MAX_VALUE : MAX_LINKS)) {
                throw refuse(Reason.EMLINK, name);
            }
        }
    }

    /** Throws if a file cannot get another name. */
    static void checkLinkable(Node node, byte[] name) throws PosixException {
        synchronized (node) {
            if (node.links == 0 && !node.unnamed) {
                throw refuse(Reason.ENOENT, name);
            }
        }
        checkLinks(node, name);
    }

    /**
     * @param replaced the inode that has the new name; null if none has
     * @throws PosixException if the file or directory must not be renamed so; nothing is changed. EXDEV if the
     *     directories are of two projects: what lies in a folder with a quota is charged to it, and nothing else
     */
    void checkRename(Node from, Node to, Node node, @Nullable Node replaced, byte[] newName, RenameMode mode)
            throws IOException {
        if (replaced == null && mode == RenameMode.EXCHANGE) {
            throw refuse(Reason.ENOENT, newName);
        }
        if (replaced != null && mode == RenameMode.NO_REPLACE) {
            throw refuse(Reason.EEXIST, newName);
        }
        if (from.project() != to.project()) {
            throw refuse(Reason.EXDEV, newName);
        }
        if (from != to) {
            checkNotWithin(to, node, newName);
            if (replaced != null && mode == RenameMode.EXCHANGE) {
                checkNotWithin(from, replaced, newName);
            }
        }
        if (replaced != null && mode == RenameMode.REPLACE && replaced != node) {
            checkReplaceable(node, replaced, newName);
        }
        if (node.isDirectory() && replaced == null && from != to) {
            checkLinks(to, newName);
        }
    }

    private void checkReplaceable(Node node, Node replaced, byte[] newName) throws IOException {
        if (node.isDirectory() && !replaced.isDirectory()) {
            throw refuse(Reason.ENOTDIR, newName);
        }
        if (!node.isDirectory() && replaced.isDirectory()) {
            throw refuse(Reason.EISDIR, newName);
        }
        if (replaced.isDirectory() && !namespace.isEmpty(replaced.id)) {
            throw refuse(Reason.ENOTEMPTY, newName);
        }
    }

    /**
     * Refuses to move an inode into a directory that is this inode, or lies below it. Walks up from there while all
     * other changes of names wait, so the depth has a limit.
     */
    private void checkNotWithin(Node directory, Node moved, byte[] name) throws IOException {
        if (!moved.isDirectory()) {
            return;
        }
        long at = directory.id;
        for (int depth = 0; at != Inode.ROOT; depth++) {
            if (at == moved.id) {
                throw refuse(Reason.EINVAL, name);
            }
            if (depth >= MAX_DEPTH) {
                throw refuse(Reason.ENAMETOOLONG, name);
            }
            Node node = nodes.pin(at);
            try {
                at = node.parent();
            } finally {
                nodes.unpin(node);
            }
        }
    }
}
