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
    private final Capacity capacity;

    FileLengths(VolumeParts parts, FileRanges ranges) {
        this.ranges = ranges;
        metadata = parts.metadata();
        nodes = parts.nodes();
        writer = parts.writer();
        reaper = parts.reaper();
        committer = parts.committer();
        budget = parts.dirtyBudget();
        capacity = parts.capacity();
    }

    /**
     * Cuts a file off or makes it longer.
     *
     * @param size within the range of all files
     * @return whether it had another length, and so the modification time was set
     * @throws PosixException EISDIR, EINVAL for what is no regular file
     */
    boolean change(Node node, long size, long nowNs) throws IOException {
        if (!node.isRegular()) {
            throw new PosixException(node.isDirectory() ? Reason.EISDIR : Reason.EINVAL, "inode " + node.id);
        }
        reaper.checkTail(node.id);
        Node.Contents contents = node.use(budget, capacity);
        try {
            Outcome outcome = begin(node, contents, size, nowNs);
            if (outcome == Outcome.TAIL_LEFT) {
                // In bounded batches, without the storing lock: a commit may wait for that one.
                reaper.cut(node, pageBehind(size), nodes);
            }
            return outcome != Outcome.AS_IT_WAS;
        } finally {
            node.leave();
        }
    }

    /** What came of a change, so far. */
    private enum Outcome {
        AS_IT_WAS,
        DONE,
        /** For {@link Reaper#cut}. */
        TAIL_LEFT
    }

    private Outcome begin(Node node, Node.Contents contents, long size, long nowNs) throws IOException {
        contents.storing.lock();
        try {
            node.awaitNotCutting();
            if (size == node.size()) {
                return Outcome.AS_IT_WAS;
            }
            // No commit shall show the length without those bytes. What is behind it stays as it is until all goes at
            // once.
            writer.storeBelow(node, size);
            if (size < node.size()) {
                return cut(node, contents, size, nowNs) ? Outcome.TAIL_LEFT : Outcome.DONE;
            }
            extend(node, size, nowNs);
            return Outcome.DONE;
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

    private void extend(Node node, long size, long nowNs) {
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
