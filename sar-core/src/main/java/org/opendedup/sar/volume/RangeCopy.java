package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.NoSpaceException;
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
    /** A recipe is some 400 bytes for each 256 KiB of a file. */
    private static final long BYTES_PER_RECIPE_BYTE = 512;

    private static final long MIN_RECIPE_BYTES = 4096;

    private final MetadataStore metadata;
    private final VolumeParts parts;
    private final NodeTable nodes;
    private final FileWriter writer;
    private final Committer committer;

    RangeCopy(VolumeParts parts) {
        this.parts = parts;
        metadata = parts.metadata();
        nodes = parts.nodes();
        writer = parts.writer();
        committer = parts.committer();
    }

    /** See {@link Volume#copy}. Takes what the target gets more of the capacity, page by page. A failure behind the first bytes ends the copy there; asked for again, they tell of it. */
    long copy(Node source, long from, OpenFile targetFile, long to, long length, long nowNs) throws IOException {
        Node target = targetFile.node();
        long wanted = Math.min(length, source.size() - from);
        if (wanted <= 0) {
            return 0;
        }
        if (source == target && from < to + wanted && to < from + wanted) {
            throw new PosixException(PosixException.Reason.EINVAL, "the ranges overlap");
        }
        Copying copying = new Copying(source, from, targetFile, to, nowNs);
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
        private final boolean mayUseReserve;
        private final Lock firstLock;
        private final Lock secondLock;
        /** Whether all that was dirty before is in the recipes: a step before, which found no space, may have got no further. */
        private boolean stored;

        /** Bytes copied so far. */
        private long done;
        /** What was taken of the capacity for the page that is being changed. */
        private long growing;

        Copying(Node source, long from, OpenFile targetFile, long to, long nowNs) {
            this.source = source;
            this.from = from;
            target = targetFile.node();
            mayUseReserve = targetFile.mayUseReserve();
            this.to = to;
            this.nowNs = nowNs;
            targetContents = target.contents();
            Lock sourceLock = source.contents().storing;
            boolean sourceFirst = source.id < target.id;
            firstLock = sourceFirst ? sourceLock : targetContents.storing;
            secondLock = sourceFirst ? targetContents.storing : sourceLock;
        }

        void run(long length) throws IOException {
            boolean settled = false;
            for (int step = 0; step < MAX_STEPS && done < length; step++) {
                committer.checkWritable();
                admitRecipe(length - done);
                try {
                    if (!step(length)) {
                        return;
                    }
                } catch (NoSpaceException e) {
                    if (settled) {
                        throw e;
                    }
                    // What is dirty may have taken too much, as in FileWriter.
                    settled = true;
                    writer.storeEverythingLogging();
                }
            }
        }

        private boolean step(long length) throws IOException {
            firstLock.lock();
            secondLock.lock();
            try {
                source.awaitNotCutting();
                target.awaitNotCutting();
                if (!stored) {
                    // The recipes then tell of all that was written before, and the target's size may follow its own.
                    writer.storeAll(source);
                    writer.storeAll(target);
                    stored = true;
                }
                return copyStep(length);
            } finally {
                secondLock.unlock();
                firstLock.unlock();
            }
        }

        /** A disk that is too full for the recipe must not be found out by a commit. */
        private void admitRecipe(long length) throws IOException {
            long stepBytes =
                    Math.min(length, (long) STEP_PAGES * metadata.header().pageBytes());
            committer.checkRoom(MIN_RECIPE_BYTES + stepBytes / BYTES_PER_RECIPE_BYTE);
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
                synchronized (target) {
                    targetContents.prepay(0);
                }
                metadata.ranges()
                        .copy(
                                new RecipeRanges.Copy(source.id, from + done, target.id, to + done, left),
                                STEP_PAGES,
                                this);
            } finally {
                synchronized (target) {
                    targetContents.settleAll();
                    growing = 0;
                }
                nodes.markDirty(target);
                changes.unlock();
                writer.noteDropped(target);
            }
            return true;
        }

        @Override
        public void growing(long bytes) throws IOException {
            parts.capacity().take(bytes, mayUseReserve);
            synchronized (target) {
                targetContents.prepay(bytes);
                growing = bytes;
            }
        }

        /** The target grows with its recipe, page by page; what was dirty there is older than the copy. */
        @Override
        public void copied(long start, long end) {
            synchronized (target) {
                targetContents.settle(growing);
                growing = 0;
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
