package org.opendedup.sar.volume;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.metadata.MetadataStore;
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

    private final MetadataStore metadata;
    private final Committer committer;
    private final ExecutorService background;
    private volatile boolean closing;

    Reaper(MetadataStore metadata, Committer committer, String name) {
        this.metadata = metadata;
        this.committer = committer;
        background = Executors.newSingleThreadExecutor(Threads.named(name + "-reaper"));
    }

    /** Frees what earlier runs of the volume left. */
    void resume() throws IOException {
        for (Orphan orphan : metadata.namespace().orphans()) {
            Inode inode = metadata.namespace().inode(orphan.inode());
            boolean whole = orphan.fromPage() == 0 && (inode == null || inode.links() == 0);
            background.execute(() -> reapLogging(new Dead(orphan.inode(), orphan.fromPage(), whole)));
        }
    }

    /** Recipe pages from {@code fromPage} on, and if {@code whole} the inode with them. */
    private record Dead(long inode, long fromPage, boolean whole) {}

    /** Frees an inode without names and users: its first batch at once, the rest in the background. */
    void free(Node node, NodeTable nodes) {
        Dead dead = new Dead(node.id, 0, true);
        try {
            committer.changes().lock();
            try {
                synchronized (node) {
                    metadata.addToTotals(-node.countedBytes, 0, 0, 0);
                    node.countedBytes = 0;
                }
                if (reapBatch(dead)) {
                    return;
                }
                // The record must say that no name is left: a crash from here on resumes from it.
                metadata.namespace().put(node.toInode());
            } finally {
                nodes.drop(node);
                committer.changes().unlock();
            }
            background.execute(() -> reapLogging(dead));
        } catch (IOException | RejectedExecutionException e) {
            log.error("inode {} could not be freed; it is tried again at the next mount", node.id, e);
        }
    }

    /** Removes the recipe pages of a file that was cut, from {@code fromPage} on; the caller keeps others from storing. */
    void cut(long inode, long fromPage) throws IOException {
        reap(new Dead(inode, fromPage, false));
    }

    private void reapLogging(Dead dead) {
        try {
            reap(dead);
        } catch (IOException | RuntimeException e) {
            log.error("inode {} could not be freed; it is tried again at the next mount", dead.inode, e);
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
