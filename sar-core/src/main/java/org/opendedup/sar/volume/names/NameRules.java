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
        if (node.isDirectory() && isWithin(to, node)
                || replaced != null
                        && mode == RenameMode.EXCHANGE
                        && replaced.isDirectory()
                        && isWithin(from, replaced)) {
            throw refuse(Reason.EINVAL, newName);
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

    /** Returns whether {@code directory} is {@code ancestor} or lies below it. */
    private boolean isWithin(Node directory, Node ancestor) throws IOException {
        long at = directory.id;
        while (at != ancestor.id) {
            if (at == Inode.ROOT) {
                return false;
            }
            Node node = nodes.pin(at);
            try {
                at = node.parent();
            } finally {
                nodes.unpin(node);
            }
        }
        return true;
    }
}
