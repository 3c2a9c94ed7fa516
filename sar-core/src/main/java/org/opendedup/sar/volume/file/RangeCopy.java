package org.opendedup.sar.volume.file;

import java.io.IOException;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.pending.StepLimit;
import org.opendedup.sar.metadata.recipes.HeldRecipe;
import org.opendedup.sar.metadata.recipes.RecipeRanges;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.write.FileWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies ranges of files by copying their recipes. Copies from the beginning of the range to its end in steps, each
 * under the storing locks of both files and the change lock. So the source's references stay counted while they are
 * copied, and a commit between two steps includes the first part of the copy. Of two files, the lower inode number is
 * locked first, so that copies in opposite directions do not deadlock.
 */
public final class RangeCopy {
    private static final Logger log = LoggerFactory.getLogger(RangeCopy.class);
    /**
     * Maximum number of recipe pages of one step: 256 MiB of a file at the default page size. A step holds the locks
     * for some milliseconds, because its pages were read before.
     */
    private static final StepLimit STEP = StepLimit.of(1024);

    /**
     * Maximum number of steps of one call: 1 GiB of a file. A caller that copies more calls again. In between it can be
     * killed, and others have a turn.
     */
    private static final int MAX_STEPS = 4;
    /** Bytes of a file for each byte of its recipe: a recipe has approximately 400 bytes for each 256 KiB of a file. */
    private static final long BYTES_PER_RECIPE_BYTE = 512;

    private static final long MIN_RECIPE_BYTES = 4096;

    private final MetadataStore metadata;
    private final VolumeContext context;
    private final NodeTable nodes;
    private final FileWriter writer;
    private final Committer committer;

    RangeCopy(VolumeContext context) {
        this.context = context;
        metadata = context.metadata();
        nodes = context.nodes();
        writer = context.writer();
        committer = context.committer();
    }

    /**
     * See {@link Volume#copy}. Takes the capacity by which the target grows, page by page. A failure after the first
     * bytes ends the copy there; a new call for the rest reports it.
     */
    long copy(Node source, long from, OpenFile targetFile, long to, long length, long nowNs) throws IOException {
        Node target = targetFile.node();
        long wanted = Math.min(length, source.size() - from);
        if (wanted <= 0) {
            return 0;
        }
        if (source == target && from < to + wanted && to < from + wanted) {
            throw new PosixException(Reason.EINVAL, "the ranges overlap");
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
        context.noteCopied(target.id, to, to + copying.done);
        return copying.done;
    }

    /** The state of one call. */
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
        /**
         * Whether all bytes that were dirty before the copy are in the recipes. An earlier step that found no space may
         * have failed before that.
         */
        private boolean stored;

        /** Number of bytes copied. */
        private long done;
        /** Capacity in bytes taken for the page that is being changed. */
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
                } catch (NoSpaceException | PosixException e) {
                    if (settled || e instanceof PosixException refused && refused.reason() != Reason.EDQUOT) {
                        throw e;
                    }
                    // The dirty bytes may have taken too much of the capacity, or of a quota, as in FileWriter.
                    settled = true;
                    writer.storeEverythingLogging();
                }
            }
        }

        private boolean step(long length) throws IOException {
            try (HeldRecipe ofSource = hold(source, from + done, length - done)) {
                long held = Math.min(length, ofSource.endByte() - from);
                try (HeldRecipe ofTarget = hold(target, to + done, held - done)) {
                    return lockedStep(Math.min(held, ofTarget.endByte() - to));
                }
            }
        }

        /** Reads the pages of a step into memory, and holds them there. */
        private HeldRecipe hold(Node node, long first, long bytes) throws IOException {
            int pageBytes = metadata.recipes().pageBytes();
            return metadata.recipes()
                    .hold(node.id, first / pageBytes, (first + bytes - 1) / pageBytes + 1, STEP.pages());
        }

        private boolean lockedStep(long length) throws IOException {
            firstLock.lock();
            secondLock.lock();
            try {
                if (source.isCutting() || target.isCutting()) {
                    // Its end may be minutes away, and the threads that serve all programs would wait for it.
                    throw new PosixException(Reason.EOPNOTSUPP, "bytes of a file that is being truncated are copied");
                }
                if (!stored) {
                    // The recipes then include everything that was written before, and the target's size can follow its
                    // recipe.
                    writer.storeAll(source);
                    writer.storeAll(target);
                    context.fastTier().storeChanges(source);
                    context.fastTier().storeChanges(target);
                    stored = true;
                }
                return copyStep(length);
            } finally {
                secondLock.unlock();
                firstLock.unlock();
            }
        }

        /** Checks that the disk has room for the recipe, so that a commit does not fail for lack of it. */
        private void admitRecipe(long length) throws IOException {
            long stepBytes =
                    Math.min(length, (long) STEP.pages() * metadata.recipes().pageBytes());
            context.collector().admitMetadata(MIN_RECIPE_BYTES + stepBytes / BYTES_PER_RECIPE_BYTE);
        }

        /**
         * Copies one step. Returns false if the source's recipe ends here, because the source was truncated meanwhile.
         * It may have been written again since.
         */
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
            // Nobody locks the pages of a snapshot: the collector must not give up what they refer to meanwhile.
            try (GracePeriod.Use use = context.collector().uses().begin()) {
                synchronized (target) {
                    target.beginChange();
                    targetContents.prepay(0);
                }
                metadata.ranges()
                        .copy(new RecipeRanges.Copy(source.id, from + done, target.id, to + done, left), STEP, this);
            } finally {
                synchronized (target) {
                    targetContents.settleAll();
                    growing = 0;
                    target.endChange();
                }
                nodes.markDirty(target);
                changes.unlock();
                writer.noteDropped(target);
            }
            return true;
        }

        @Override
        public void growing(long bytes) throws IOException {
            synchronized (target) {
                context.capacity().take(target.account(), bytes, mayUseReserve);
                targetContents.prepay(bytes);
                growing = bytes;
            }
        }

        /**
         * Extends the target with its recipe, page by page. Dirty bytes in the range are older than the copy, and are
         * dropped.
         */
        @Override
        public void copied(long start, long end) {
            synchronized (target) {
                targetContents.settle(growing);
                growing = 0;
                targetContents.remove(start, end);
                targetContents.cleanCut = -1;
                target.size = Math.max(target.size, end);
                target.storedBytes = Math.max(target.storedBytes, end);
                target.modifiedNs = nowNs;
                target.changedNs = nowNs;
            }
            done = end - to;
        }
    }
}
