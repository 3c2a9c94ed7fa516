package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.RecipeRanges;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies ranges of files by their recipes. Goes from the range's beginning to its end in steps, each under the storing locks
 * of both files and the change lock: so the source's references are counted while they are copied, and a commit in between
 * shows a beginning of the copy. Of two files the lower inode number is locked first, so that copies back and forth do not
 * wait for each other.
 */
final class RangeCopy {
    private static final Logger log = LoggerFactory.getLogger(RangeCopy.class);
    /** Recipe pages of one step: 256 MiB of a file at the default page size, some milliseconds under the locks. */
    private static final int STEP_PAGES = 1024;
    /** Steps of one call: 64 GiB of a file, seconds. Whoever wants more asks again, and can be killed in between. */
    private static final int MAX_STEPS = 256;
    /** A recipe is some 400 bytes for each 256 KiB of a file; the database writes them to its log and to a table. */
    private static final long BYTES_PER_RECIPE_BYTE = 256;

    private static final long MIN_RECIPE_BYTES = 4096;

    private final MetadataStore metadata;
    private final VolumeParts parts;
    private final NodeTable nodes;
    private final FileWriter writer;
    private final Committer committer;
    private final FileRanges ranges;

    RangeCopy(VolumeParts parts, FileRanges ranges) {
        this.parts = parts;
        this.ranges = ranges;
        metadata = parts.metadata();
        nodes = parts.nodes();
        writer = parts.writer();
        committer = parts.committer();
    }

    /** See {@link Volume#copy}. A failure behind the first bytes ends the copy there; asked for again, they tell of it. */
    long copy(Node source, long from, Node target, long to, long length, long nowNs) throws IOException {
        long wanted = Math.min(length, source.size() - from);
        if (wanted <= 0) {
            return 0;
        }
        if (source == target && from < to + wanted && to < from + wanted) {
            throw new PosixException(PosixException.Reason.EINVAL, "the ranges overlap");
        }
        ranges.checkRoom(target, to + wanted);
        Copying copying = new Copying(source, from, target, to, nowNs);
        try {
            copying.run(wanted);
        } catch (IOException | RuntimeException e) {
            if (copying.done == 0) {
                throw e;
            }
            log.debug("copying inode {} to inode {} stopped after {} bytes", source.id, target.id, copying.done, e);
        }
        return copying.done;
    }

    /** One call. */
    private final class Copying implements RecipeRanges.CopyListener {
        private final Node source;
        private final long from;
        private final Node target;
        private final long to;
        private final long nowNs;
        private final Node.Contents targetContents;
        private final Lock firstLock;
        private final Lock secondLock;
        /** Bytes copied so far. */
        private long done;

        Copying(Node source, long from, Node target, long to, long nowNs) {
            this.source = source;
            this.from = from;
            this.target = target;
            this.to = to;
            this.nowNs = nowNs;
            targetContents = target.contents();
            Lock sourceLock = source.contents().storing;
            boolean sourceFirst = source.id < target.id;
            firstLock = sourceFirst ? sourceLock : targetContents.storing;
            secondLock = sourceFirst ? targetContents.storing : sourceLock;
        }

        void run(long length) throws IOException {
            for (int step = 0; step < MAX_STEPS && done < length; step++) {
                committer.checkWritable();
                admitRecipe(length - done);
                firstLock.lock();
                secondLock.lock();
                try {
                    source.awaitNotCutting();
                    target.awaitNotCutting();
                    if (step == 0) {
                        // The recipes then tell of all that was written before, and the target's size may follow its
                        // own.
                        writer.storeAll(source);
                        writer.storeAll(target);
                    }
                    if (!copyStep(length)) {
                        return;
                    }
                } finally {
                    secondLock.unlock();
                    firstLock.unlock();
                }
            }
        }

        /** A disk that is too full for the recipe must not be found out by a commit. */
        private void admitRecipe(long length) throws IOException {
            long stepBytes =
                    Math.min(length, (long) STEP_PAGES * metadata.header().pageBytes());
            parts.space()
                    .admit(
                            MIN_RECIPE_BYTES + stepBytes / BYTES_PER_RECIPE_BYTE,
                            metadata.totals().logicalBytes(),
                            parts.underWayBytes());
        }

        /** Returns false if the source's recipe ends here: somebody cut it off meanwhile, and may have written again. */
        private boolean copyStep(long length) throws IOException {
            long left;
            synchronized (source) {
                left = Math.min(length, source.storedBytes - from) - done;
            }
            if (left <= 0) {
                return false;
            }
            Lock changes = committer.changes();
            changes.lock();
            try {
                metadata.ranges()
                        .copy(
                                new RecipeRanges.Copy(source.id, from + done, target.id, to + done, left),
                                STEP_PAGES,
                                this);
            } finally {
                nodes.markDirty(target);
                changes.unlock();
                writer.noteDropped(target);
            }
            return true;
        }

        /** The target grows with its recipe, page by page; what was dirty there is older than the copy. */
        @Override
        public void copied(long start, long end) {
            synchronized (target) {
                targetContents.dirty.remove(start, end);
                targetContents.cleanCut = -1;
                targetContents.completions++;
                target.size = Math.max(target.size, end);
                target.storedBytes = Math.max(target.storedBytes, end);
                target.modifiedNs = nowNs;
                target.changedNs = nowNs;
            }
            done = end - to;
        }
    }
}
