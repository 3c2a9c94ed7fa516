package org.opendedup.sar.volume.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The inodes in use, one {@link Node} each: those that the kernel refers to, those of open files, and those with
 * changes that no commit has encoded. Safe for use by many threads.
 *
 * <p>The kernel remembers inodes as long as it has memory for them, and there may be millions. If there are many nodes,
 * those that only the kernel refers to leave the table. No call holds such a node, and the database has all of its data
 * except the kernel's count, which {@link LookupCounts} keeps. The next call creates the node again. Nodes are selected
 * by the clock algorithm: a hand moves round the table, and skips a node that was used since the hand last passed it.
 *
 * <p>All nodes have the same size: the target of a symbolic link, up to 4 KiB, is in the metadata only.
 */
public final class NodeTable {
    /** Heap size of a node, its key and its place in the table, in bytes; measured. */
    public static final int NODE_BYTES = 256;

    /**
     * Number of nodes that the hand examines for each node that is added: more than one, so that the hand keeps up
     * although it must skip some.
     */
    private static final int HAND_STEPS = 4;

    /** Most symbolic links of which the log says that they cannot be read. */
    private static final int MOST_UNREAD = 1000;

    private static final byte[] NO_TARGET = {};
    private static final Logger log = LoggerFactory.getLogger(NodeTable.class);

    private final MetadataStore metadata;
    private final RawTable raws;
    private final Capacity capacity;
    /** Number of nodes in the table above which the hand moves. */
    private final int manyNodes;

    /** Whether only a receive changes the volume's files. */
    private final boolean isReplica;

    private final LookupCounts lookupCounts = new LookupCounts();
    /** Guards {@link #hand}. */
    private final ReentrantLock sweeping = new ReentrantLock();

    private Iterator<Node> hand = Collections.emptyIterator();
    private final ConcurrentHashMap<Long, Node> nodes = new ConcurrentHashMap<>();
    /** Nodes whose attributes changed since they were last encoded. */
    private final Set<Node> dirty = ConcurrentHashMap.newKeySet();
    /** Symbolic links that could not be encoded, because their records cannot be read. */
    private final Set<Long> unread = ConcurrentHashMap.newKeySet();
    /** Number of nodes with references. */
    private final LongAdder inUse = new LongAdder();
    /** Called with an inode without names when its last reference is released. */
    private final Consumer<Node> unused;

    /**
     * @param raws the files that are raw
     * @param manyNodes number of nodes in the table above which idle ones leave it
     */
    public NodeTable(MetadataStore metadata, RawTable raws, Capacity capacity, int manyNodes, Consumer<Node> unused)
            throws IOException {
        this.raws = raws;
        this.metadata = metadata;
        isReplica = metadata.replica() != null;
        this.capacity = capacity;
        this.manyNodes = manyNodes;
        this.unused = unused;
    }

    /** Returns the node, with one more reference. ESTALE if there is no such inode. */
    public Node pin(long id) throws IOException {
        Node node = pinIfPresent(id);
        if (node == null) {
            throw new PosixException(PosixException.Reason.ESTALE, "inode " + id + " does not exist");
        }
        return node;
    }

    public @Nullable Node pinIfPresent(long id) throws IOException {
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
            // An inode without names is being freed, and cannot be reached any more.
            if (inode == null || inode.links() == 0) {
                return null;
            }
            long generation = metadata.snapshots().generation(id, inode.generation());
            Node node = new Node(inode.withGeneration(generation), metadata.account(inode), isReplica);
            raws.attach(node);
            long lookups = lookupCounts.get(id);
            if (lookups > 0) {
                lookupCounts.set(id, 0);
                node.references = lookups;
                node.lookups = lookups;
                // The value was lost with the node; assume true, because the kernel has referred to the inode all the
                // time.
                node.transferred = true;
            }
            return node;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A use of an inode, which is pinned meanwhile. */
    @FunctionalInterface
    public interface Use<T> {
        T of(Node node) throws IOException;
    }

    /** Runs {@code use} with a node, with one more reference until it ends. ESTALE if there is no such inode. */
    public <T> T with(long id, Use<T> use) throws IOException {
        Node node = pin(id);
        try {
            return use.of(node);
        } finally {
            unpin(node);
        }
    }

    /** Adds a new inode with one reference, and marks it to be encoded. Called under the change lock. */
    public Node add(Inode inode, Account account) {
        Node node = new Node(inode, account, isReplica);
        if (node.isSymbolicLink()) {
            metadata.namespace().put(inode);
        }
        node.countedBytes = 0;
        node.attributes = Presence.NONE;
        node.references = 1;
        inUse.increment();
        nodes.put(node.id, node);
        markDirty(node);
        moveHand();
        return node;
    }

    /**
     * Turns the caller's reference into a reference of the kernel, which {@link #forget} releases. The caller must not
     * use the node any more.
     */
    public void handOut(Node node) {
        nodes.computeIfPresent(node.id, (key, present) -> {
            present.lookups++;
            return present;
        });
    }

    /** Releases the caller's reference. */
    public void unpin(Node node) {
        release(node.id, 1, 0);
    }

    /** Releases references of the kernel. */
    public void forget(long id, long lookups) {
        release(id, lookups, lookups);
    }

    /**
     * Releases references. An inode without references leaves the table, unless it has open contents or changes to
     * encode.
     */
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
        long known = lookupCounts.get(id);
        long left = Math.max(0, known - lookups);
        lookupCounts.set(id, left);
        inUse.add(known > 0 && left == 0 ? -1 : 0);
    }

    /** If there are many nodes, removes a few that only the kernel refers to. */
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
            boolean stays = node.used || node.references != node.lookups;
            node.used = false;
            if (stays) {
                return node;
            }
            synchronized (node) {
                if (node.links == 0 || !isIdle(node)) {
                    return node;
                }
            }
            lookupCounts.set(key, node.lookups);
            return null;
        });
    }

    /** Returns the number of nodes in the table. */
    long size() {
        return nodes.mappingCount();
    }

    /** Returns the number of inodes that the kernel refers to and that have no node. */
    long withoutNode() {
        return lookupCounts.size();
    }

    /** Returns whether the database has all of a node; not of one with failures that an fsync is to report. */
    private boolean isIdle(Node node) {
        return node.contents == null && node.failures == node.failuresReported && !dirty.contains(node);
    }

    /** Returns whether the node has changes that no commit has encoded. */
    public boolean isDirty(Node node) {
        return dirty.contains(node);
    }

    /** Marks the node, so that the next commit encodes its attributes. */
    public void markDirty(Node node) {
        if (SnapshotIds.isInSnapshot(node.id)) {
            throw new IllegalStateException("inode " + node.id + " is in a snapshot and cannot change");
        }
        dirty.add(node);
    }

    /** Returns whether a file is being truncated. */
    public boolean isCutting(long id) {
        Node node = nodes.get(id);
        return node != null && node.isCutting();
    }

    /**
     * Records that {@code bytes} more bytes of a file are stored in chunks. Called under the change lock by the code
     * that changes the recipe, which also keeps the node in the table. A node that is not in the table is being freed.
     */
    public void noteData(long inode, long bytes) {
        Node node = nodes.get(inode);
        if (node != null && !node.freed && bytes != 0) {
            synchronized (node) {
                node.dataBytes += bytes;
                if (node.contents == null) {
                    capacity.change(node.account(), bytes);
                } else {
                    node.contents.noteData(bytes);
                }
            }
            markDirty(node);
        }
    }

    /**
     * Charges an inode to another account, and marks it to be encoded; not one that is being freed. Called under the
     * change lock. EDQUOT; nothing is changed then.
     *
     * @param isExempt whether limits do not matter, as for root
     */
    public void charge(Node node, Account to, boolean isExempt) throws PosixException {
        synchronized (node) {
            if (to != node.account() && !node.freed) {
                metadata.quotas().move(node.account(), to, node.charge(), isExempt);
                node.setAccount(to);
                markDirty(node);
            }
        }
    }

    /** Drops a freed node. */
    public void drop(Node node) {
        dirty.remove(node);
        nodes.remove(node.id, node);
    }

    /**
     * Encodes the changed symbolic links, whose targets must be read, so that little is left to read while all changes
     * wait. The caller holds no lock.
     *
     * @param changes the change lock, shared
     * @param encoded receives the nodes, as {@link #encodeDirty} returns them
     */
    public void encodeDirtyLinks(Lock changes, Set<Node> encoded) throws IOException {
        for (Node node : dirty) {
            byte[] target = node.isSymbolicLink() ? targetToEncode(node) : null;
            if (target != null) {
                changes.lock();
                try {
                    synchronized (node) {
                        // An inode that is being freed must not be written again.
                        if (!node.freed) {
                            encoded.add(node);
                            encode(node, target);
                        }
                    }
                } finally {
                    changes.unlock();
                }
            }
        }
    }

    /**
     * Puts every changed inode into the pending metadata. The caller holds the change lock exclusively, or is the only
     * thread.
     *
     * @return nodes that may leave the table when this is durable, to be passed to {@link #evict}
     */
    public Set<Node> encodeDirty() throws IOException {
        Set<Node> encoded = ConcurrentHashMap.newKeySet();
        for (Node node : dirty) {
            byte[] target = targetToEncode(node);
            if (target != null) {
                encoded.add(node);
                encode(node, target);
            }
        }
        return encoded;
    }

    /**
     * Returns the target of a symbolic link; empty for any other inode. Null if its record is damaged, or in a block
     * that the disk does not return: no commit fails for that, and the link's attributes wait.
     */
    private byte @Nullable [] targetToEncode(Node node) throws IOException {
        try {
            return target(node);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            if (unread.size() < MOST_UNREAD && unread.add(node.id)) {
                log.error("changed attributes of symbolic link {} are not stored: it cannot be read", node.id, e);
            }
            return null;
        }
    }

    /** Returns the target of a symbolic link; empty for any other inode. */
    byte[] target(Node node) throws IOException {
        Inode inode = node.isSymbolicLink() ? metadata.namespace().inode(node.id) : null;
        return inode == null ? NO_TARGET : inode.target();
    }

    /** Returns the target of a symbolic link. EINVAL if the inode is not a symbolic link. */
    public byte[] targetOfLink(Node node) throws IOException {
        if (!node.isSymbolicLink()) {
            throw new PosixException(Reason.EINVAL, "inode " + node.id + " is no symbolic link");
        }
        return target(node);
    }

    private void encode(Node node, byte[] target) {
        // In one monitor with the removal: code that finds the node clean and drops it must find it encoded.
        synchronized (node) {
            dirty.remove(node);
            Inode inode = node.toInode(target);
            metadata.namespace().put(inode);
            if (node.isRegular()) {
                metadata.count(node.account(), inode.dataBytes() - node.countedBytes, 0);
                node.countedBytes = inode.dataBytes();
            }
        }
    }

    /** Removes nodes without references from the table. */
    public void evict(Iterable<Node> candidates) {
        for (Node candidate : candidates) {
            nodes.computeIfPresent(candidate.id, (key, node) -> {
                synchronized (node) {
                    return node.references == 0 && node.links > 0 && isIdle(node) ? null : node;
                }
            });
        }
    }

    /** Returns whether enough inodes wait to be encoded that a commit should be made now. */
    public boolean hasManyDirty() {
        return dirty.size() > manyNodes;
    }

    /** Returns the inodes with changes that no commit has encoded. */
    public List<Long> changed() {
        return dirty.stream().map(node -> node.id).toList();
    }

    /** Returns the number of inodes with references: by the kernel, an open file, or a call in progress. */
    public long inUse() {
        return inUse.sum();
    }
}
