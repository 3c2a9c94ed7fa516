package org.opendedup.sar.volume.raw;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.pending.StepLimit;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.recipes.HeldRecipe;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.Orphan;
import org.opendedup.sar.volume.commit.BackgroundWork;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.node.Capacity;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Frees inodes without a name, and truncated tails of files. Removes recipes in bounded batches, each atomically with
 * the counts that it decreases. Reads what a batch changes before it acquires the change lock, so that no thread waits
 * for the disk with the lock held. A small file is freed immediately, a large one in the background, as is a directory
 * that never had a name, with all that is in it. Work that a crash interrupts is on the orphan list, and is resumed
 * when the volume is opened.
 */
public final class Reaper implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(Reaper.class);
    /** Maximum number of recipe pages of one batch: 64 MiB of a file at the default page size. */
    private static final StepLimit BATCH = StepLimit.of(256);

    /** Bytes of metadata for each page that moves into the versions of a snapshot, about. */
    private static final long MOVED_PAGE_BYTES = 1024;

    private final MetadataStore metadata;
    private final Committer committer;
    private final Capacity capacity;
    /** Called, under the change lock, with each inode that is removed. */
    private final LongConsumer raws;

    private final BackgroundWork background;
    /**
     * Inodes of files whose tails could not be removed because their recipes are damaged and unreadable. Not limited in
     * number, because such files should be rare.
     */
    private final Set<Long> unfinishedTails = ConcurrentHashMap.newKeySet();
    /** Inodes of files whose tails are removed when there is space. */
    private final Set<Long> waitingTails = ConcurrentHashMap.newKeySet();

    /** @param raws called, under the change lock, with each inode that is removed */
    public Reaper(MetadataStore metadata, Committer committer, Capacity capacity, LongConsumer raws, String name) {
        this.raws = raws;
        this.metadata = metadata;
        this.committer = committer;
        this.capacity = capacity;
        background = new BackgroundWork(committer, name + "-reaper");
    }

    /**
     * Frees what earlier runs of the volume left. Frees the tails of existing files before it returns, because such a
     * file may grow into its tail. Frees whole inodes, which cannot be reached any more, in the background, unless
     * there are very many.
     */
    public void resume(NodeTable nodes) throws IOException {
        List<Orphan> orphans;
        boolean waits = false;
        do {
            orphans = metadata.namespace().orphans();
            boolean more = orphans.size() == Namespace.MAX_ORPHANS;
            for (Orphan orphan : orphans) {
                waits |= !resume(orphan, more, nodes);
            }
        } while (!waits
                && orphans.size() == Namespace.MAX_ORPHANS
                && !orphans.equals(metadata.namespace().orphans()));
    }

    /**
     * Resumes freeing an orphan. Returns false if it found no space; it then continues in the background when there is
     * space.
     */
    private boolean resume(Orphan orphan, boolean atOnce, NodeTable nodes) throws IOException {
        Inode inode = metadata.namespace().inode(orphan.inode());
        boolean whole = orphan.fromPage() == 0 && (inode == null || inode.links() == 0);
        if (!whole) {
            return resumeTail(orphan, nodes);
        }
        if (inode != null) {
            forgetBytes(inode);
        }
        NodeTable tree = inode != null && inode.isDirectory() ? nodes : null;
        Dead dead = new Dead(orphan.inode(), 0, true, inode == null ? null : metadata.account(inode), true, null, tree);
        boolean done = atOnce && reapLogging(dead);
        if (!done) {
            later(dead, () -> {});
        }
        return done || !atOnce;
    }

    /**
     * Resumes the removal of a tail. Keeps the file's node pinned, because the node counts the bytes that are removed.
     */
    private boolean resumeTail(Orphan orphan, NodeTable nodes) throws IOException {
        Node node = nodes.pinIfPresent(orphan.inode());
        Dead dead = new Dead(orphan.inode(), orphan.fromPage(), node);
        boolean waits = false;
        try {
            waits = !reapLogging(dead);
        } finally {
            if (!waits && node != null) {
                nodes.unpin(node);
            }
        }
        if (waits) {
            reapTailLater(dead, nodes);
        }
        return !waits;
    }

    /** Removes a tail in the background, and unpins the file afterwards. */
    private void reapTailLater(Dead dead, NodeTable nodes) {
        waitingTails.add(dead.inode);
        later(dead, () -> {
            waitingTails.remove(dead.inode);
            if (dead.file != null) {
                nodes.unpin(dead.file);
            }
        });
    }

    private void forgetBytes(Inode inode) throws IOException {
        committer.changes().lock();
        try {
            Account account = metadata.account(inode);
            metadata.count(account, -inode.dataBytes(), 0);
            capacity.change(account, -inode.dataBytes());
            metadata.namespace().put(inode.withoutBytes());
        } finally {
            committer.changes().unlock();
        }
    }

    /**
     * Recipe pages that are to be removed, starting with {@code fromPage}.
     *
     * @param whole whether the inode is removed with them
     * @param account of the inode that is removed; null if the totals do not have it, or it stays
     * @param mayHaveAttributes whether extended attributes are to be looked for
     * @param file pinned node of the file whose tail they are; null for a whole inode, or if the file does not exist
     *     any more
     * @param tree for a directory that may have entries, which are removed with it: the nodes; else null
     */
    private record Dead(
            long inode,
            long fromPage,
            boolean whole,
            @Nullable Account account,
            boolean mayHaveAttributes,
            @Nullable Node file,
            @Nullable NodeTable tree) {
        Dead(long inode, long fromPage, @Nullable Node file) {
            this(inode, fromPage, false, null, false, file, null);
        }
    }

    /**
     * Frees an inode without names and users: the first batch immediately, the rest in the background. A directory that
     * never had a name may have entries; they are removed, too.
     */
    public void free(Node node, NodeTable nodes) {
        boolean isTree = node.unnamed && node.isDirectory();
        Dead dead = new Dead(node.id, 0, true, node.account(), node.mayHaveAttributes(), null, isTree ? nodes : null);
        try {
            if (!freeFirstBatch(node, nodes, dead)) {
                later(dead, () -> {});
            }
        } catch (IOException | RuntimeException e) {
            log.error("inode {} could not be freed; it is tried again at the next mount", node.id, e);
        }
    }

    private boolean freeFirstBatch(Node node, NodeTable nodes, Dead dead) throws IOException {
        committer.changes().lock();
        try {
            synchronized (node) {
                metadata.count(node.account(), -node.countedBytes, 0);
                capacity.change(node.account(), -node.dataBytes);
                node.countedBytes = 0;
                node.dataBytes = 0;
                node.size = 0;
                node.storedBytes = 0;
            }
            // The record must have no names and no counted bytes: after a crash, freeing resumes from it.
            metadata.namespace().put(node.toInode(new byte[0]));
        } finally {
            nodes.drop(node);
            committer.changes().unlock();
        }
        return dead.tree == null && hasRoom(dead.inode) && reapBatch(dead);
    }

    /**
     * Removes the recipe pages of a truncated file, starting with {@code fromPage}, and ends the truncation. The file
     * does not grow until then. Commits if many changes are pending, so the caller holds no lock that a commit waits
     * for. If there is no space, the removal continues in the background, because the new length is already set. A page
     * that cannot be read or removed fails nothing either: the kernel would keep the former length, and show zeros up
     * to it. {@link #checkTail} then refuses to let the file grow.
     */
    public void cut(Node node, long fromPage, NodeTable nodes) throws IOException {
        cut(node, fromPage, nodes, committer::checkWritable);
    }

    /**
     * Does what {@link #cut} does, and commits nothing, so that it can be called where a commit would wait for the
     * caller.
     */
    void cutWithoutCommit(Node node, long fromPage, NodeTable nodes) throws IOException {
        cut(node, fromPage, nodes, committer::checkNotFailed);
    }

    /** @param beforeEach runs before each batch */
    private void cut(Node node, long fromPage, NodeTable nodes, Closing.Step beforeEach) throws IOException {
        boolean done = false;
        try {
            while (!done) {
                beforeEach.run();
                done = cutBatch(node, fromPage);
            }
        } catch (IOException e) {
            if (isToWait(e)) {
                log.debug("the tail of inode {} is removed when the volume takes changes: {}", node.id, e.getMessage());
                reapTailLater(new Dead(node.id, fromPage, nodes.pin(node.id)), nodes);
                node.endCutting();
                done = true;
            } else {
                log.error("inode {} was cut off, and its old tail is tried again at the next mount", node.id, e);
            }
        } finally {
            if (!done) {
                unfinishedTails.add(node.id);
                node.endCutting();
            }
        }
    }

    /** Removes one batch of a tail. Returns whether it was the last one. */
    private boolean cutBatch(Node node, long fromPage) throws IOException {
        requireRoom(node.id);
        try (HeldRecipe held = hold(node.id, fromPage)) {
            committer.changes().lock();
            try {
                if (!removeAll(held)) {
                    return false;
                }
                synchronized (node) {
                    forgetTail(node);
                    node.endCutting();
                }
                return true;
            } finally {
                committer.changes().unlock();
            }
        }
    }

    /** Reads the pages of a batch into memory, and holds them there. */
    private HeldRecipe hold(long inode, long fromPage) throws IOException {
        return metadata.recipes().hold(inode, fromPage, Long.MAX_VALUE, BATCH.pages());
    }

    /**
     * Removes the held pages, or as many as the limits of a batch allow. Returns whether the recipe has no pages left
     * in the range.
     */
    private boolean removeAll(HeldRecipe held) throws IOException {
        return metadata.recipes().removePages(held, BATCH) == held.pages() && held.isAll();
    }

    /**
     * Removes a finished tail from the orphan list. An inode that lost its last name meanwhile stays on the list as a
     * whole.
     */
    private void forgetTail(Node node) throws IOException {
        // In one monitor: a file without a name that gets one at this moment checks whether it has a tail, and would
        // put the tail back on the list.
        synchronized (node) {
            metadata.namespace().removeOrphan(node.id);
            if (node.links == 0) {
                metadata.namespace().addOrphan(node.id, 0);
            }
        }
    }

    /**
     * Checks that a file may grow: if a truncated tail still exists, its old bytes would reappear. EIO if the tail
     * could not be removed, ENOSPC if its removal waits for space.
     */
    public void checkTail(long inode) throws IOException {
        if (!waitingTails.isEmpty() && waitingTails.contains(inode)) {
            throw new NoSpaceException(
                    "inode " + inode + " was cut off, and its old tail is removed when there is space");
        }
        if (!unfinishedTails.isEmpty() && unfinishedTails.contains(inode)) {
            throw new IOException("inode " + inode + " was cut off and its old tail cannot be removed; see the log");
        }
    }

    /**
     * Removes pages and logs failures. Returns false if it must be retried when there is space, or a stop of changes
     * has ended. After any other failure, the removal is retried at the next mount.
     */
    private boolean reapLogging(Dead dead) {
        try {
            reap(dead);
        } catch (IOException | RuntimeException e) {
            if (isToWait(e)) {
                log.debug("inode {} is freed further when the volume takes changes: {}", dead.inode, e.getMessage());
                return false;
            }
            if (!dead.whole) {
                unfinishedTails.add(dead.inode);
            }
            log.error("inode {} could not be freed; it is tried again at the next mount", dead.inode, e);
        }
        return true;
    }

    /**
     * Removes pages in the background. If a device is full, or changes are stopped, continues when there is space and
     * they are not, and not only at the next mount.
     */
    private void reapWhenThereIsSpace(Dead dead, Runnable ended) {
        if (reapLogging(dead) || !background.addAgain(() -> reapWhenThereIsSpace(dead, ended))) {
            ended.run();
        }
    }

    /** Frees further in the background; while the volume is being closed, it is left to the next mount. */
    private void later(Dead dead, Runnable ended) {
        if (!background.add(() -> reapWhenThereIsSpace(dead, ended))) {
            ended.run();
        }
    }

    /** Returns whether a failure is one that ends without a new mount. */
    private boolean isToWait(Exception failure) {
        return failure instanceof NoSpaceException || !committer.isAccepting();
    }

    /**
     * Checks that there is room for the pages of a batch. Pages that a snapshot has are not removed, they move. What is
     * kept for deletes must be left, because only the deletion of snapshots gives space back then.
     */
    private void requireRoom(long inode) throws IOException {
        if (inode < metadata.snapshots().firstFreeInode()) {
            committer.checkRoom(BATCH.pages() * MOVED_PAGE_BYTES);
        }
    }

    private boolean hasRoom(long inode) throws IOException {
        try {
            requireRoom(inode);
            return true;
        } catch (NoSpaceException e) {
            log.debug("inode {} is freed when there is space: {}", inode, e.getMessage());
            return false;
        }
    }

    /**
     * Returns what is done once everything is freed that was removed or truncated before the call, and for which there
     * is space; done at once while the volume is being closed.
     */
    public CompletableFuture<Void> freed() {
        return background.done();
    }

    private void reap(Dead dead) throws IOException {
        boolean done = dead.tree != null && !new TreeRemoval(dead.inode, dead.tree).run();
        while (!done && !background.isClosing()) {
            committer.checkWritable();
            requireRoom(dead.inode);
            done = reapBatch(dead);
        }
    }

    /**
     * Removes the entries of a directory without a name, and what is only there. Nobody else reaches them. Keeps one
     * place for each directory between the root of the tree and the present one.
     */
    private final class TreeRemoval {
        /** Number of entries that are listed in one call, so that no cursor stays open meanwhile. */
        private static final int BATCH = 256;

        private final NodeTable nodes;
        private final Deque<Place> way = new ArrayDeque<>();

        TreeRemoval(long root, NodeTable nodes) {
            this.nodes = nodes;
            way.push(new Place(null, root, 0));
        }

        /**
         * The entries of a directory from a cookie on.
         *
         * @param entry by which the directory is found; null for the root
         */
        private record Place(@Nullable Name entry, long directory, long cookie) {}

        private record Name(long directory, byte[] name, long inode, int type, long cookie) {}

        /** Returns false if the volume is being closed before all is removed. */
        boolean run() throws IOException {
            while (!way.isEmpty()) {
                if (background.isClosing()) {
                    return false;
                }
                Place place = way.pop();
                List<Name> names = names(place);
                if (names.isEmpty()) {
                    if (place.entry != null) {
                        remove(place.entry);
                    }
                    continue;
                }
                removeSome(place, names);
            }
            return true;
        }

        /** Removes entries up to the first directory, which is next. */
        private void removeSome(Place place, List<Name> names) throws IOException {
            for (Name name : names) {
                if (Modes.isDirectory(name.type)) {
                    way.push(new Place(place.entry, place.directory, name.cookie));
                    way.push(new Place(name, name.inode, 0));
                    return;
                }
                remove(name);
            }
            way.push(new Place(place.entry, place.directory, names.get(names.size() - 1).cookie));
        }

        private List<Name> names(Place place) throws IOException {
            List<Name> names = new ArrayList<>();
            metadata.namespace()
                    .list(
                            place.directory,
                            place.cookie,
                            (name, inode, type, cookie) -> names.size() < BATCH
                                    && names.add(new Name(place.directory, name, inode, type, cookie)));
            return names;
        }

        private void remove(Name name) throws IOException {
            committer.checkWritable();
            Node parent = nodes.pinIfPresent(name.directory);
            Node node = nodes.pinIfPresent(name.inode);
            committer.changes().lock();
            try {
                metadata.namespace().removeEntry(name.directory, name.name);
                if (node != null) {
                    unlink(node);
                }
                if (parent != null && Modes.isDirectory(name.type)) {
                    synchronized (parent) {
                        parent.links--;
                    }
                    nodes.markDirty(parent);
                }
            } finally {
                committer.changes().unlock();
                for (Node pinned : Arrays.asList(parent, node)) {
                    if (pinned != null) {
                        nodes.unpin(pinned);
                    }
                }
            }
        }

        private void unlink(Node node) throws IOException {
            synchronized (node) {
                node.links = node.isDirectory() ? 0 : node.links - 1;
                if (node.links == 0) {
                    metadata.namespace().addOrphan(node.id, 0);
                }
            }
            nodes.markDirty(node);
        }
    }

    /** Removes one batch, atomically with its counts. Returns whether it was the last one. */
    private boolean reapBatch(Dead dead) throws IOException {
        try (HeldRecipe held = hold(dead.inode, dead.fromPage)) {
            // The inode cannot be reached any more, so it gets no more attributes meanwhile.
            List<byte[]> attributes = dead.whole && dead.mayHaveAttributes && held.isAll()
                    ? metadata.namespace().attributes(dead.inode)
                    : List.of();
            committer.changes().lock();
            try {
                if (!removeAll(held)) {
                    return false;
                }
                remove(dead, attributes);
                return true;
            } finally {
                committer.changes().unlock();
            }
        }
    }

    /** Removes the remaining records after the pages are removed. */
    private void remove(Dead dead, List<byte[]> attributes) throws IOException {
        if (dead.file != null) {
            forgetTail(dead.file);
            return;
        }
        if (dead.whole) {
            raws.accept(dead.inode);
            for (byte[] name : attributes) {
                metadata.namespace().removeAttribute(dead.inode, name);
            }
            metadata.namespace().remove(dead.inode);
            if (dead.account != null) {
                metadata.count(dead.account, 0, -1);
            }
        }
        metadata.namespace().removeOrphan(dead.inode);
    }

    @Override
    public void close() {
        background.close();
    }
}
