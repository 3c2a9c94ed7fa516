package org.opendedup.sar.volume.names;

import java.io.IOException;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;

/**
 * One change of names in a {@link DirectoryTree}. Holds the lock of the names and the change lock while it runs, and
 * unpins its nodes afterwards.
 */
final class NameChange implements AutoCloseable {
    private final Lock names;
    private final Committer committer;
    private final NodeTable nodes;
    private final Namespace namespace;
    private final NameView view;
    final long nowNs;
    private final Node[] pinned = new Node[5];
    private int count;
    private boolean begun;

    /**
     * @param names the lock of the names
     * @param nowNs time of the change, in nanoseconds since 1970
     */
    NameChange(Lock names, Committer committer, NodeTable nodes, Namespace namespace, NameView view, long nowNs)
            throws IOException {
        this.names = names;
        this.committer = committer;
        this.nodes = nodes;
        this.namespace = namespace;
        this.view = view;
        this.nowNs = nowNs;
        committer.checkWritable();
        names.lock();
        committer.changes().lock();
    }

    /** Called after all checks: from here to the end of the change, no lookup returns. */
    void begin() {
        view.beginChange();
        begun = true;
    }

    Node pin(long inode) throws IOException {
        Node node = hold(nodes.pin(inode));
        node.requireChangeable();
        return node;
    }

    /** Takes over the caller's reference to a node until the end of the change. */
    Node hold(Node node) {
        pinned[count++] = node;
        return node;
    }

    Node directory(long inode) throws IOException {
        Node node = pin(inode);
        if (!node.isDirectory()) {
            throw new PosixException(Reason.ENOTDIR, "inode " + inode);
        }
        synchronized (node) {
            if (node.links == 0 && !node.unnamed) {
                throw new PosixException(Reason.ENOENT, "directory " + inode + " was removed");
            }
        }
        return node;
    }

    /** Turns the node's reference into a reference of the kernel. */
    void handOut(Node node) {
        nodes.handOut(node);
        for (int i = 0; i < count; i++) {
            if (pinned[i] == node) {
                pinned[i] = pinned[--count];
                return;
            }
        }
    }

    /** Updates the link count and times of a directory whose names changed. One without a name has no links. */
    void touch(Node directory, int moreLinks) {
        synchronized (directory) {
            directory.links += directory.unnamed ? 0 : moreLinks;
            directory.modifiedNs = nowNs;
            directory.changedNs = nowNs;
        }
        nodes.markDirty(directory);
    }

    /**
     * Updates the link count and change time of a node whose names changed.
     *
     * @param moreLinks change of the number of links
     */
    void relink(Node node, int moreLinks) throws IOException {
        synchronized (node) {
            node.links += moreLinks;
            node.changedNs = nowNs;
            // In one monitor with the count: the truncation of a tail checks the count before it removes the
            // orphan.
            if (node.links == 0 && moreLinks < 0) {
                namespace.addOrphan(node.id, 0);
            }
        }
        nodes.markDirty(node);
    }

    @Override
    public void close() {
        if (begun) {
            view.endChange();
        }
        committer.changes().unlock();
        names.unlock();
        for (int i = 0; i < count; i++) {
            nodes.unpin(pinned[i]);
        }
    }
}
