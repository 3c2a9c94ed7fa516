package org.opendedup.sar.volume.names;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;

/**
 * Lists directories in batches. Each batch is a consistent view of one moment; the whole listing is not. Never holds a
 * whole directory in memory.
 */
public final class Listing {
    /** Cookies of the first two entries of every directory; the entries of names have larger ones. */
    private static final long SELF_COOKIE = 1;

    private static final long PARENT_COOKIE = 2;

    /**
     * Maximum number of entries read from the database at a time. Attributes are read only after the database's cursor
     * is closed.
     */
    private static final int LIST_BATCH = 128;

    private final Namespace namespace;
    private final NodeTable nodes;
    private final NameView view;

    public Listing(Namespace namespace, NodeTable nodes, NameView view) {
        this.namespace = namespace;
        this.nodes = nodes;
        this.view = view;
    }

    /** See {@link Volume#list}. */
    public void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException {
        Node node = nodes.pin(directory);
        try {
            if (!node.isDirectory()) {
                throw new PosixException(Reason.ENOTDIR, "inode " + directory);
            }
            long parent = node.parent();
            if (cookie < SELF_COOKIE
                    && !visitor.visit(new byte[] {'.'}, directory, Modes.DIRECTORY, SELF_COOKIE, null)) {
                return;
            }
            if (cookie < PARENT_COOKIE
                    && !visitor.visit(new byte[] {'.', '.'}, parent, Modes.DIRECTORY, PARENT_COOKIE, null)) {
                return;
            }
            long next = cookie <= PARENT_COOKIE ? 0 : cookie;
            List<Named> batch = new ArrayList<>(LIST_BATCH);
            do {
                long from = next;
                view.betweenChanges(() -> fill(batch, directory, from), List::clear);
                for (Named entry : batch) {
                    if (!visit(visitor, withAttributes, directory, entry)) {
                        return;
                    }
                    next = entry.cookie;
                }
            } while (batch.size() == LIST_BATCH);
        } finally {
            nodes.unpin(node);
        }
    }

    /** Reads the entries after {@code cookie}, at most {@link #LIST_BATCH}. */
    private List<Named> fill(List<Named> batch, long directory, long cookie) throws IOException {
        batch.clear();
        namespace.list(
                directory,
                cookie,
                (name, inode, type, nextCookie) ->
                        batch.size() < LIST_BATCH && batch.add(new Named(name, inode, type, nextCookie)));
        return batch;
    }

    private record Named(byte[] name, long inode, int type, long cookie) {}

    private boolean visit(EntryVisitor visitor, boolean withAttributes, long directory, Named entry)
            throws IOException {
        Node node = withAttributes ? nodes.pinIfPresent(entry.inode) : null;
        boolean taken = false;
        try {
            if (node != null) {
                node.noteFolder(directory);
            }
            taken = visitor.visit(
                    entry.name, entry.inode, entry.type, entry.cookie, node == null ? null : node.attributes());
            return taken;
        } finally {
            if (node != null && taken) {
                nodes.handOut(node);
            } else if (node != null) {
                nodes.unpin(node);
            }
        }
    }
}
