package org.opendedup.sar.volume;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.metadata.MetadataStore;

/**
 * The inodes in use, each once: those the kernel knows, those of open files, and those with changes that no commit has
 * encoded. Safe for use by many threads.
 *
 * <p>The kernel remembers inodes as long as it has memory for them, and there may be millions. So where there are many nodes,
 * those that only the kernel refers to leave the table: no call holds such a node, and the database has all there is to know
 * of it but the kernel's count, which {@link LookupCounts} keeps. The next call makes a node of it again. A hand goes round
 * the table as that of a clock, and passes over a node that was used since it came by last.
 *
 * <p>A node has the same size whatever it is of: the target of a symbolic link, up to 4 KiB, is in the metadata alone.
 */
final class NodeTable {
    /** Heap bytes of a node, its key and its place in the table, measured. */
    static final int NODE_BYTES = 240;

    /** Nodes the hand looks at for each one that comes: more than one, so that it gets ahead of what it has to pass over. */
    private static final int HAND_STEPS = 4;

    private static final byte[] NO_TARGET = {};

    private final MetadataStore metadata;
    private final Capacity capacity;
    /** Nodes in the table from which on the hand moves. */
    private final int manyNodes;

    private final LookupCounts lookupCounts = new LookupCounts();
    /** Guards {@link #hand}. */
    private final ReentrantLock sweeping = new ReentrantLock();

    private Iterator<Node> hand = Collections.emptyIterator();
    private final ConcurrentHashMap<Long, Node> nodes = new ConcurrentHashMap<>();
    /** Nodes whose attributes changed since they were last encoded. */
    private final Set<Node> dirty = ConcurrentHashMap.newKeySet();
    /** Nodes with references. */
    private final LongAdder inUse = new LongAdder();
    /** Told of an inode without names when its last reference goes. */
    private final Consumer<Node> unused;

    /** @param manyNodes nodes in the table from which on idle ones leave it */
    NodeTable(MetadataStore metadata, Capacity capacity, int manyNodes, Consumer<Node> unused) {
        this.metadata = metadata;
        this.capacity = capacity;
        this.manyNodes = manyNodes;
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
                    node.used = present != null;
                }
                return node;
            });
            moveHand();
            return pinned == null || pinned.freed ? null : pinned;
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private @Nullable Node load(long id) {
        try {
            Inode inode = metadata.namespace().inode(id);
            // Without names it is being freed, and nobody can come to it any more.
            if (inode == null || inode.links() == 0) {
                return null;
            }
            Node node = new Node(inode);
            int lookups = lookupCounts.get(id);
            if (lookups > 0) {
                lookupCounts.set(id, 0);
                node.references = lookups;
                node.lookups = lookups;
            }
            return node;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Adds a new inode, with one reference and to be encoded. Called under the change lock. */
    Node add(Inode inode) {
        Node node = new Node(inode);
        if (node.isSymbolicLink()) {
            metadata.namespace().put(inode);
        }
        node.countedBytes = 0;
        node.attributes = ExtendedAttributes.Presence.NONE;
        node.references = 1;
        inUse.increment();
        nodes.put(node.id, node);
        markDirty(node);
        moveHand();
        return node;
    }

    /** The caller's reference becomes one of the kernel's, to be given back by {@link #forget}; the caller lets the node go. */
    void handOut(Node node) {
        nodes.computeIfPresent(node.id, (key, present) -> {
            present.lookups++;
            return present;
        });
    }

    /** Takes the caller's reference away. */
    void unpin(Node node) {
        release(node.id, 1, 0);
    }

    /** Takes references of the kernel's away. */
    void forget(long id, long lookups) {
        release(id, lookups, lookups);
    }

    /** An inode whose last reference goes leaves the table, unless it has something to be kept. */
    private void release(long id, long references, long lookups) {
        Node[] orphan = new Node[1];
        nodes.compute(id, (key, node) -> {
            if (node == null) {
                forgetWithoutNode(id, lookups);
                return null;
            }
            long left = Math.max(0, node.references - references);
            inUse.add(node.references > 0 && left == 0 ? -1 : 0);
            node.references = left;
            node.lookups = Math.max(0, node.lookups - lookups);
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

    private void forgetWithoutNode(long id, long lookups) {
        int known = lookupCounts.get(id);
        int left = (int) Math.max(0, known - lookups);
        lookupCounts.set(id, left);
        inUse.add(known > 0 && left == 0 ? -1 : 0);
    }

    /** Where there are many nodes: lets a few go that only the kernel refers to. */
    private void moveHand() {
        if (nodes.mappingCount() <= manyNodes || !sweeping.tryLock()) {
            return;
        }
        try {
            for (int step = 0; step < HAND_STEPS; step++) {
                if (!hand.hasNext()) {
                    hand = nodes.values().iterator();
                }
                if (hand.hasNext()) {
                    passOver(hand.next());
                }
            }
        } finally {
            sweeping.unlock();
        }
    }

    private void passOver(Node candidate) {
        nodes.computeIfPresent(candidate.id, (key, node) -> {
            boolean stays = node.used || node.references != node.lookups || node.lookups > LookupCounts.MAX_COUNT;
            node.used = false;
            if (stays) {
                return node;
            }
            synchronized (node) {
                if (node.links == 0 || node.failures != node.failuresTold || !isIdle(node)) {
                    return node;
                }
            }
            lookupCounts.set(key, (int) node.lookups);
            return null;
        });
    }

    /** Nodes in the table. */
    long size() {
        return nodes.mappingCount();
    }

    /** Inodes that the kernel refers to and that have no node. */
    long withoutNode() {
        return lookupCounts.size();
    }

    private boolean isIdle(Node node) {
        return node.contents == null && !dirty.contains(node);
    }

    /** Has the node's attributes encoded by the next commit. */
    void markDirty(Node node) {
        dirty.add(node);
    }

    /**
     * Chunks give so many bytes more of a file. Called under the change lock, by whoever changes its recipe and so keeps its
     * node here; one that is not here is being freed.
     */
    void noteData(long inode, long bytes) {
        Node node = nodes.get(inode);
        if (node != null && !node.freed && bytes != 0) {
            synchronized (node) {
                node.dataBytes += bytes;
                if (node.contents == null) {
                    capacity.change(bytes);
                } else {
                    node.contents.noteData(bytes);
                }
            }
            markDirty(node);
        }
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

    /** Where a symbolic link leads; empty for any other inode. */
    byte[] target(Node node) throws IOException {
        Inode inode = node.isSymbolicLink() ? metadata.namespace().inode(node.id) : null;
        return inode == null ? NO_TARGET : inode.target();
    }

    private void encode(Node node) throws IOException {
        // Before the node counts as clean: when it cannot be read, the next commit tries again.
        byte[] target = target(node);
        // In one monitor with the removal: whoever finds the node clean and lets it go must find it encoded.
        synchronized (node) {
            dirty.remove(node);
            Inode inode = node.toInode(target);
            metadata.namespace().put(inode);
            if (node.isRegular()) {
                metadata.addToTotals(inode.dataBytes() - node.countedBytes, 0, 0, 0);
                node.countedBytes = inode.dataBytes();
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

    /** Whether so many inodes wait for a commit to encode them that one should come now. */
    boolean hasManyDirty() {
        return dirty.size() > manyNodes;
    }

    /** Inodes that somebody holds a reference to: the kernel, an open file, a call under way. */
    long inUse() {
        return inUse.sum();
    }
}
