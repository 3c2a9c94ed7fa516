package org.opendedup.sar.volume.file;

import java.io.Closeable;
import java.io.IOException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.recipes.HeldRecipe;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.node.Capacity;
import org.opendedup.sar.volume.node.DirtyBudget;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.raw.RawFiles;
import org.opendedup.sar.volume.raw.Reaper;
import org.opendedup.sar.volume.write.FileWriter;

/**
 * Changes the lengths of files (truncate(2)). A file that gets shorter has its new end immediately. The recipe pages
 * after the new end become orphans, and are deleted in batches before the call returns.
 */
public final class FileLengths {
    /** Maximum length of a file, in bytes. Keeps sums of offsets far from overflow. */
    public static final long MAX_FILE_BYTES = 1L << 60;

    private final MetadataStore metadata;
    private final NodeTable nodes;
    private final FileWriter writer;
    private final FileRanges ranges;
    private final Reaper reaper;
    private final Committer committer;
    private final DirtyBudget budget;
    private final Capacity capacity;
    private final RawFiles raws;
    private final int pageBytes;

    public FileLengths(VolumeContext context, FileRanges ranges) {
        this.ranges = ranges;
        metadata = context.metadata();
        pageBytes = metadata.recipes().pageBytes();
        nodes = context.nodes();
        writer = context.writer();
        reaper = context.reaper();
        committer = context.committer();
        budget = context.dirtyBudget();
        capacity = context.capacity();
        raws = context.raws();
    }

    /** Checks a range of a file. EINVAL if it is negative, EFBIG if it ends after the maximum length of a file. */
    static void checkRange(long offset, long length) throws PosixException {
        if (offset < 0 || length < 0) {
            throw new PosixException(Reason.EINVAL, "offset " + offset + ", length " + length);
        }
        if (offset > MAX_FILE_BYTES - length) {
            throw new PosixException(Reason.EFBIG, "a file has at most " + MAX_FILE_BYTES + " bytes");
        }
    }

    /**
     * Truncates or extends a file.
     *
     * @param size new length in bytes, within the range allowed for files
     * @return whether the length changed, and so the modification time was set
     * @throws PosixException EISDIR or EINVAL if the node is not a regular file
     */
    boolean change(Node node, long size, long nowNs) throws IOException {
        if (!node.isRegular()) {
            throw new PosixException(node.isDirectory() ? Reason.EISDIR : Reason.EINVAL, "inode " + node.id);
        }
        reaper.checkTail(node.id);
        writer.intents().checkReadable(node.id);
        raws.checkReadable(node.id);
        Node.Contents contents = node.use(budget, capacity);
        RawFile raw = node.rawFile();
        if (raw != null) {
            try {
                return change(raw, size);
            } finally {
                node.leave();
            }
        }
        // Read into memory before any lock is acquired.
        try (HeldRecipe pageOfNewEnd = metadata.recipes().holdFew(node.id, size / pageBytes, pageBehind(size));
                Closeable orphan = metadata.namespace().holdOrphan(node.id)) {
            Outcome outcome = begin(node, contents, size, nowNs);
            if (outcome == Outcome.TAIL_LEFT) {
                // In bounded batches, without the storing lock, because a commit may wait for that lock.
                reaper.cut(node, pageBehind(size), nodes);
            }
            return outcome != Outcome.AS_IT_WAS;
        } finally {
            node.leave();
        }
    }

    private static boolean change(RawFile raw, long size) throws IOException {
        RandomFile.Status status = raw.status();
        if (status != null && status.size() == size) {
            return false;
        }
        raw.truncate(size);
        return true;
    }

    /** Result of the first part of a change. */
    private enum Outcome {
        AS_IT_WAS,
        DONE,
        /** Pages after the new end remain, for {@link Reaper#cut} to delete. */
        TAIL_LEFT
    }

    private Outcome begin(Node node, Node.Contents contents, long size, long nowNs) throws IOException {
        contents.lockUncut();
        try {
            if (size == node.size()) {
                return Outcome.AS_IT_WAS;
            }
            // No commit may show the new length without those bytes. Bytes after the new end stay unchanged until all
            // of them are removed at once.
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

    /** Returns the number of the first recipe page that has no byte before {@code end}. */
    private long pageBehind(long end) {
        return (end + pageBytes - 1) / pageBytes;
    }

    private void extend(Node node, long size, long nowNs) {
        ranges.grow(node, size, nowNs);
    }

    /** Truncates a file. Returns whether pages after the new end remain; they are now orphans. */
    private boolean cut(Node node, Node.Contents contents, long size, long nowNs) throws IOException {
        long firstDead = pageBehind(size);
        committer.changes().lock();
        try {
            node.beginChange();
            metadata.recipes().truncatePage(node.id, size);
            synchronized (node) {
                boolean hasTail = node.storedBytes > firstDead * pageBytes;
                if (hasTail) {
                    metadata.namespace().addOrphan(node.id, firstDead);
                }
                contents.cutting = hasTail;
                contents.truncate(size);
                contents.cleanCut = -1;
                node.size = size;
                // Bytes between the recipe's end and the new end are a hole until dirty ones there are stored.
                node.storedBytes = size;
                node.modifiedNs = nowNs;
                nodes.markDirty(node);
                return hasTail;
            }
        } finally {
            node.endChange();
            committer.changes().unlock();
        }
    }
}
