package org.opendedup.sar.volume;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.metadata.MetadataStore;

/**
 * The inodes in use, each once: those the kernel knows, those of open files, and those with changes that no commit has
 * encoded. Safe for use by many threads.
 */
final class NodeTable {
    private final MetadataStore metadata;
    private final ConcurrentHashMap<Long, Node> nodes = new ConcurrentHashMap<>();
    /** Nodes whose attributes changed since they were last encoded. */
    private final Set<Node> dirty = ConcurrentHashMap.newKeySet();
    /** Nodes with references. */
    private final LongAdder inUse = new LongAdder();
    /** Told of an inode without names when its last reference goes. */
    private final Consumer<Node> unused;

    NodeTable(MetadataStore metadata, Consumer<Node> unused) {
        this.metadata = metadata;
        this.unused = unused;
    }

    /** The node, with one more reference. ESTALE if there is no such inode. */
    Node pin(long id) throws IOException {
        Node node = pinIfPresent(id);
        if (node == null) {
            throw new PosixException(PosixException.Reason.ESTALE, "inode " + id + " does not exist");
        }
        return node;
    }

    @Nullable
    Node pinIfPresent(long id) throws IOException {
        try {
            Node pinned = nodes.compute(id, (key, present) -> {
                Node node = present == null ? load(key) : present;
                if (node != null && !node.freed) {
                    inUse.add(node.references++ == 0 ? 1 : 0);
                }
                return node;
            });
            return pinned == null || pinned.freed ? null : pinned;
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private @Nullable Node load(long id) {
        try {
            Inode inode = metadata.namespace().inode(id);
            // Without names it is being freed, and nobody can come to it any more.
            return inode == null || inode.links() == 0 ? null : new Node(inode);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Adds a new inode, with one reference and to be encoded. */
    Node add(Inode inode) {
        Node node = new Node(inode);
        node.countedBytes = 0;
        node.references = 1;
        inUse.increment();
        nodes.put(node.id, node);
        markDirty(node);
        return node;
    }

    void unpin(Node node) {
        unpin(node.id, 1);
    }

    /** Takes references away; an inode whose last one goes leaves the table, unless it has something to be kept. */
    void unpin(long id, long references) {
        Node[] orphan = new Node[1];
        nodes.computeIfPresent(id, (key, node) -> {
            long left = Math.max(0, node.references - references);
            inUse.add(node.references > 0 && left == 0 ? -1 : 0);
            node.references = left;
            if (left > 0) {
                return node;
            }
            synchronized (node) {
                if (node.links == 0 && !node.freed) {
                    node.freed = true;
                    orphan[0] = node;
                    return node;
                }
                return isIdle(node) ? null : node;
            }
        });
        if (orphan[0] != null) {
            unused.accept(orphan[0]);
        }
    }

    private boolean isIdle(Node node) {
        return node.contents == null && !dirty.contains(node);
    }

    /** Has the node's attributes encoded by the next commit. */
    void markDirty(Node node) {
        dirty.add(node);
    }

    /** Drops a freed node. */
    void drop(Node node) {
        dirty.remove(node);
        nodes.remove(node.id, node);
    }

    /**
     * Puts every changed inode into the pending metadata. The caller holds the change lock exclusively, or is alone.
     *
     * @return nodes that may leave the table now, to be given to {@link #evict}
     */
    Iterable<Node> encodeDirty() throws IOException {
        Set<Node> encoded = ConcurrentHashMap.newKeySet();
        for (Node node : dirty) {
            encoded.add(node);
            encode(node);
        }
        return encoded;
    }

    private void encode(Node node) throws IOException {
        // In one monitor with the removal: whoever finds the node clean and lets it go must find it encoded.
        synchronized (node) {
            dirty.remove(node);
            Inode inode = node.toInode();
            metadata.namespace().put(inode);
            if (node.isRegular()) {
                metadata.addToTotals(inode.size() - node.countedBytes, 0, 0, 0);
                node.countedBytes = inode.size();
            }
        }
    }

    /** Lets nodes go that nobody refers to. */
    void evict(Iterable<Node> candidates) {
        for (Node candidate : candidates) {
            nodes.computeIfPresent(candidate.id, (key, node) -> {
                synchronized (node) {
                    return node.references == 0 && node.links > 0 && isIdle(node) ? null : node;
                }
            });
        }
    }

    /** Inodes that somebody holds a reference to: the kernel, an open file, a call under way. */
    long inUse() {
        return inUse.sum();
    }

    /** Changes of regular files' lengths that no commit has encoded, in bytes. */
    long unencodedBytes() {
        long bytes = 0;
        for (Node node : dirty) {
            synchronized (node) {
                bytes += node.isRegular() ? node.size - node.countedBytes : 0;
            }
        }
        return bytes;
    }
}
