package org.opendedup.sar.volume;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.Orphan;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Frees what no name leads to: removes recipes in bounded batches, each together with the counts it takes down. A small
 * file goes at once; a large one in the background. What a crash interrupts is on the orphan list and is taken up again
 * when the volume is opened.
 */
final class Reaper implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(Reaper.class);
    /** Recipe pages of one batch: 64 MiB of a file at the default page size. */
    private static final int BATCH_PAGES = 256;

    private static final long PAUSE_MS = 200;

    private final MetadataStore metadata;
    private final Committer committer;
    private final Capacity capacity;
    private final ExecutorService background;
    /** Files whose tails could not be removed: recipes damaged beyond reading. As many as there are such, hopefully none. */
    private final Set<Long> unfinishedTails = ConcurrentHashMap.newKeySet();
    /** Files whose tails are removed when there is space. */
    private final Set<Long> waitingTails = ConcurrentHashMap.newKeySet();

    private volatile boolean closing;

    Reaper(MetadataStore metadata, Committer committer, Capacity capacity, String name) {
        this.metadata = metadata;
        this.committer = committer;
        this.capacity = capacity;
        background = Executors.newSingleThreadExecutor(Threads.named(name + "-reaper"));
    }

    /**
     * Frees what earlier runs of the volume left. Tails of files that live on are freed before this returns, as the file may
     * grow into them; whole inodes, which nobody can come to, in the background unless there are very many.
     */
    void resume(NodeTable nodes) throws IOException {
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

    /** Returns false if it found no space, and goes on in the background when there is some. */
    private boolean resume(Orphan orphan, boolean atOnce, NodeTable nodes) throws IOException {
        Inode inode = metadata.namespace().inode(orphan.inode());
        boolean whole = orphan.fromPage() == 0 && (inode == null || inode.links() == 0);
        if (!whole) {
            return resumeTail(orphan, nodes);
        }
        if (inode != null) {
            forgetBytes(inode);
        }
        Dead dead = new Dead(orphan.inode(), 0, true, null);
        boolean done = atOnce && reapLogging(dead);
        if (!done) {
            background.execute(() -> reapWhenThereIsSpace(dead));
        }
        return done || !atOnce;
    }

    /** The file's node is held meanwhile: it counts the bytes that go. */
    private boolean resumeTail(Orphan orphan, NodeTable nodes) throws IOException {
        Node node = nodes.pinIfPresent(orphan.inode());
        Dead dead = new Dead(orphan.inode(), orphan.fromPage(), false, node);
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

    /** The file is unpinned when its tail is gone. */
    private void reapTailLater(Dead dead, NodeTable nodes) {
        waitingTails.add(dead.inode);
        background.execute(() -> {
            try {
                reapWhenThereIsSpace(dead);
            } finally {
                waitingTails.remove(dead.inode);
                if (dead.file != null) {
                    nodes.unpin(dead.file);
                }
            }
        });
    }

    private void forgetBytes(Inode inode) {
        committer.changes().lock();
        try {
            metadata.addToTotals(-inode.dataBytes(), 0, 0, 0);
            capacity.giveBack(inode.dataBytes());
            metadata.namespace().put(inode.withoutBytes());
        } finally {
            committer.changes().unlock();
        }
    }

    /**
     * Recipe pages from {@code fromPage} on.
     *
     * @param whole whether the inode goes with them
     * @param file what they are the tail of, pinned; null also if that is not there any more
     */
    private record Dead(
            long inode,
            long fromPage,
            boolean whole,
            @Nullable Node file) {}

    /** Frees an inode without names and users: its first batch at once, the rest in the background. */
    void free(Node node, NodeTable nodes) {
        Dead dead = new Dead(node.id, 0, true, null);
        try {
            if (!freeFirstBatch(node, nodes, dead)) {
                background.execute(() -> reapWhenThereIsSpace(dead));
            }
        } catch (IOException | RuntimeException e) {
            log.error("inode {} could not be freed; it is tried again at the next mount", node.id, e);
        }
    }

    private boolean freeFirstBatch(Node node, NodeTable nodes, Dead dead) throws IOException {
        committer.changes().lock();
        try {
            synchronized (node) {
                metadata.addToTotals(-node.countedBytes, 0, 0, 0);
                capacity.giveBack(node.dataBytes);
                node.countedBytes = 0;
                node.dataBytes = 0;
                node.size = 0;
                node.storedBytes = 0;
            }
            // The record must say that no name is left, and no byte counted: a crash from here on resumes from it.
            metadata.namespace().put(node.toInode(new byte[0]));
            return reapBatch(dead);
        } finally {
            nodes.drop(node);
            committer.changes().unlock();
        }
    }

    /**
     * Removes the recipe pages of a file that was cut, from {@code fromPage} on, and ends the cutting. Until then the file does
     * not grow. It commits nothing, so that it can be called where a commit would wait for the caller. What finds no space is gone on with
     * in the background: the file is cut off already.
     */
    void cut(Node node, long fromPage, NodeTable nodes) throws IOException {
        boolean done = false;
        try {
            while (!done) {
                done = cutBatch(node, fromPage);
            }
        } catch (NoSpaceException e) {
            log.debug("the tail of inode {} is removed when there is space: {}", node.id, e.getMessage());
            reapTailLater(new Dead(node.id, fromPage, false, nodes.pin(node.id)), nodes);
            node.endCutting();
            done = true;
        } finally {
            if (!done) {
                unfinishedTails.add(node.id);
                node.endCutting();
            }
        }
    }

    /** Returns whether it was the last one. */
    private boolean cutBatch(Node node, long fromPage) throws IOException {
        committer.checkNotFailed();
        committer.changes().lock();
        try {
            if (metadata.recipes().removePages(node.id, fromPage, BATCH_PAGES) == BATCH_PAGES) {
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

    /** The tail is gone; an inode that lost its last name meanwhile stays an orphan as a whole. */
    private void forgetTail(Node node) throws IOException {
        // In one monitor: a file without a name that gets one now asks whether it has a tail, and would put it back on
        // the list.
        synchronized (node) {
            metadata.namespace().removeOrphan(node.id);
            if (node.links == 0) {
                metadata.namespace().addOrphan(node.id, 0);
            }
        }
    }

    /** EIO for a file whose cut-off tail could not be removed, ENOSPC if that waits for space: if it grew, old bytes would come back. */
    void checkTail(long inode) throws IOException {
        if (!waitingTails.isEmpty() && waitingTails.contains(inode)) {
            throw new NoSpaceException(
                    "inode " + inode + " was cut off, and its old tail is removed when there is space");
        }
        if (!unfinishedTails.isEmpty() && unfinishedTails.contains(inode)) {
            throw new IOException("inode " + inode + " was cut off and its old tail cannot be removed; see the log");
        }
    }

    /** Returns false if this is to be tried again when there is space; what fails otherwise is told, and waits for the next mount. */
    private boolean reapLogging(Dead dead) {
        try {
            reap(dead);
        } catch (NoSpaceException e) {
            log.debug("inode {} is freed further when there is space: {}", dead.inode, e.getMessage());
            return false;
        } catch (IOException | RuntimeException e) {
            if (!dead.whole) {
                unfinishedTails.add(dead.inode);
            }
            log.error("inode {} could not be freed; it is tried again at the next mount", dead.inode, e);
        }
        return true;
    }

    /** For the background: what finds a device full goes on later, and not only at the next mount. */
    private void reapWhenThereIsSpace(Dead dead) {
        while (!reapLogging(dead) && awaitSpace()) {}
    }

    /** Waits while commits find no space; false if the volume is being closed. */
    private boolean awaitSpace() {
        try {
            do {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
            } while (!closing && committer.isShort());
            return !closing;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void reap(Dead dead) throws IOException {
        boolean done = false;
        while (!done && !closing) {
            committer.checkWritable();
            committer.changes().lock();
            try {
                done = reapBatch(dead);
            } finally {
                committer.changes().unlock();
            }
        }
    }

    /** One batch, atomic with its counts; returns whether it was the last. Called with the change lock held. */
    private boolean reapBatch(Dead dead) throws IOException {
        if (metadata.recipes().removePages(dead.inode, dead.fromPage, BATCH_PAGES) == BATCH_PAGES) {
            return false;
        }
        if (dead.file != null) {
            forgetTail(dead.file);
            return true;
        }
        if (dead.whole) {
            metadata.namespace().removeAttributes(dead.inode);
            metadata.namespace().remove(dead.inode);
            metadata.addToTotals(0, -1, 0, 0);
        }
        metadata.namespace().removeOrphan(dead.inode);
        return true;
    }

    @Override
    public void close() {
        closing = true;
        background.shutdown();
        try {
            background.awaitTermination(1, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
