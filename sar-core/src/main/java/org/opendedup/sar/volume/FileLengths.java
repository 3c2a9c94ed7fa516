package org.opendedup.sar.volume;

import java.io.IOException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.MetadataStore;

/**
 * Changes the lengths of files (truncate(2)). A file that gets shorter has its new end at once; the recipe pages behind it are
 * orphans then, and go in batches before the call returns.
 */
final class FileLengths {
    private final MetadataStore metadata;
    private final NodeTable nodes;
    private final FileWriter writer;
    private final FileRanges ranges;
    private final Reaper reaper;
    private final Committer committer;
    private final DirtyBudget budget;

    FileLengths(VolumeParts parts, FileRanges ranges) {
        this.ranges = ranges;
        metadata = parts.metadata();
        nodes = parts.nodes();
        writer = parts.writer();
        reaper = parts.reaper();
        committer = parts.committer();
        budget = parts.dirtyBudget();
    }

    /**
     * Cuts a file off or makes it longer.
     *
     * @param size within the range of all files
     * @throws PosixException EISDIR, EINVAL for what is no regular file, EFBIG beyond the volume's capacity
     */
    void change(Node node, long size, long nowNs) throws IOException {
        if (!node.isRegular()) {
            throw new PosixException(node.isDirectory() ? Reason.EISDIR : Reason.EINVAL, "inode " + node.id);
        }
        reaper.checkTail(node.id);
        Node.Contents contents = node.use(budget);
        try {
            if (begin(node, contents, size, nowNs)) {
                // In bounded batches, without the storing lock: a commit may wait for that one.
                reaper.cut(node, pageBehind(size));
            }
        } finally {
            node.leave();
        }
    }

    /** Returns whether a tail is left for {@link Reaper#cut}. */
    private boolean begin(Node node, Node.Contents contents, long size, long nowNs) throws IOException {
        contents.storing.lock();
        try {
            node.awaitNotCutting();
            // No commit shall show the length without those bytes. What is behind it stays as it is until all goes at
            // once.
            writer.storeBelow(node, size);
            if (size < node.size()) {
                return cut(node, contents, size, nowNs);
            }
            extend(node, size, nowNs);
            return false;
        } finally {
            contents.storing.unlock();
            writer.noteDropped(node);
        }
    }

    /** Number of the first recipe page that has no byte before {@code end}. */
    private long pageBehind(long end) {
        int pageBytes = metadata.header().pageBytes();
        return (end + pageBytes - 1) / pageBytes;
    }

    private void extend(Node node, long size, long nowNs) throws IOException {
        if (size > node.size()) {
            ranges.checkCapacity(size);
        }
        ranges.grow(node, size, nowNs);
    }

    /** Cuts a file off at a new end; returns whether pages behind it are left, which are orphans now. */
    private boolean cut(Node node, Node.Contents contents, long size, long nowNs) throws IOException {
        long firstDead = pageBehind(size);
        committer.changes().lock();
        try {
            node.beginCut();
            metadata.recipes().truncatePage(node.id, size);
            synchronized (node) {
                boolean hasTail =
                        node.storedBytes > firstDead * metadata.header().pageBytes();
                if (hasTail) {
                    metadata.namespace().addOrphan(node.id, firstDead);
                }
                contents.cutting = hasTail;
                contents.dirty.truncate(size);
                contents.cleanCut = -1;
                node.size = size;
                // Bytes between the recipe's end and the new end are a hole until dirty ones there are stored.
                node.storedBytes = size;
                node.modifiedNs = nowNs;
                nodes.markDirty(node);
                return hasTail;
            }
        } finally {
            node.endCut();
            committer.changes().unlock();
        }
    }
}
