package org.opendedup.sar.volume.names;

import java.io.IOException;
import java.time.InstantSource;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.posix.TimeStamps;

/**
 * Sets access times in memory; the next commit writes them. Nothing waits for an access time, because losing one does
 * no harm. A volume that is read-only, short of space, or has many changed inodes leaves its access times unchanged.
 */
public final class Accesses {
    private final NodeTable nodes;
    private final Committer committer;
    private final InstantSource clock;

    public Accesses(NodeTable nodes, Committer committer, InstantSource clock) {
        this.nodes = nodes;
        this.committer = committer;
        this.clock = clock;
    }

    /** See {@link Volume#noteOpened}. */
    public boolean noteOpened(long inode, AccessTimes rule) {
        return note(inode, rule, true);
    }

    /** See {@link Volume#noteAccess}. */
    public boolean note(long inode, AccessTimes rule) {
        return note(inode, rule, false);
    }

    private boolean note(long inode, AccessTimes rule, boolean ifTransferred) {
        if (SnapshotIds.isInSnapshot(inode)) {
            return false;
        }
        Node node;
        try {
            node = nodes.pinIfPresent(inode);
        } catch (IOException e) {
            return false;
        }
        if (node == null) {
            return false;
        }
        try {
            return note(node, rule, ifTransferred);
        } finally {
            nodes.unpin(node);
        }
    }

    private boolean note(Node node, AccessTimes rule, boolean ifTransferred) {
        if (node.isFixed()) {
            return false;
        }
        long now = TimeStamps.now(clock);
        synchronized (node) {
            if (ifTransferred && !node.transferred || !rule.sets(node, now)) {
                return false;
            }
        }
        if (!mayChange()) {
            return false;
        }
        synchronized (node) {
            boolean sets = rule.sets(node, now);
            if (sets) {
                node.accessedNs = now;
                // Without the change lock, because a reader must not wait for it, and the time is not part of another
                // change. In the monitor, as encoding is, so that either this encoding or the next includes the time.
                nodes.markDirty(node);
            }
            return sets;
        }
    }

    private boolean mayChange() {
        if (nodes.hasManyDirty()) {
            return false;
        }
        try {
            committer.checkNotFailed();
            committer.checkRoom(0);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
