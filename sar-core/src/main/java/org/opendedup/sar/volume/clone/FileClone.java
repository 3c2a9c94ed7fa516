package org.opendedup.sar.volume.clone;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.ingest.ArrayRun;
import org.opendedup.sar.ingest.IngestPipeline;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.pending.StepLimit;
import org.opendedup.sar.metadata.recipes.HeldRecipe;
import org.opendedup.sar.metadata.recipes.RecipeRanges;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.recipes.ReplacedPages;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.RawFile;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.InodeState;

/**
 * Copies the recipe of one file into that of a new one that nobody else uses, so that it has the bytes of one moment,
 * although programs write to the file. First copies the whole recipe in steps, each under the file's storing lock and
 * the change lock; then the pages that were replaced meanwhile, and again, until they are few. For the last of them
 * writes to the file wait, for as long as it takes to store what is dirty in it.
 */
final class FileClone implements RecipeRanges.CopyListener {
    /** Maximum number of recipe pages of one step, as in {@link org.opendedup.sar.volume.file.RangeCopy}. */
    private static final StepLimit STEP = StepLimit.of(1024);

    /** Maximum number of pages that are copied while writes wait: some milliseconds. */
    private static final int LAST_PAGES = 256;

    /** How often a file is begun again that is truncated, or stored from the fast tier, while it is cloned. */
    private static final int ATTEMPTS = 100;

    /** Bytes of the metadata that a step may take: those of its recipe pages, and of their counts. */
    private static final long STEP_BYTES = 1 << 20;

    private final VolumeContext context;
    private final MetadataStore metadata;
    private final RecipeStore recipes;
    private final Committer committer;
    private final Node source;
    private final Node clone;
    private final Watcher watcher;
    private final int pageBytes;
    /** Capacity in bytes taken for the page that is being added. */
    private long growing;
    /** Whether the clone has all bytes of one moment. */
    private boolean isComplete;
    /** End of the bytes that the present change has copied. */
    private long copiedTo;

    /** Called between two steps. */
    @FunctionalInterface
    interface Watcher {
        /** @throws InterruptedIOException to stop */
        void look() throws InterruptedIOException;
    }

    /**
     * @param source pinned
     * @param clone pinned, empty
     */
    FileClone(VolumeContext context, Node source, Node clone, Watcher watcher) {
        this.context = context;
        metadata = context.metadata();
        recipes = metadata.recipes();
        committer = context.committer();
        this.source = source;
        this.clone = clone;
        this.watcher = watcher;
        pageBytes = recipes.pageBytes();
    }

    /** Returns the bytes that the clone has, as a part of a report. */
    CloneReport run() throws IOException {
        // While it has this user, the file neither becomes raw nor ends being raw.
        source.use(context.dirtyBudget(), context.capacity());
        try (ReplacedPages replaced = recipes.watch(source.id)) {
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                RawFile raw = source.rawFile();
                // Stores a raw file in chunks, where it stays until it is written again.
                context.fastTier().makeCurrent(source);
                RawRecord.Copy copy = raw == null ? null : raw.record().copy();
                if (raw != null && copy == null) {
                    continue;
                }
                var unused = replaced.take();
                copy(0, copy == null ? storedBytes() : copy.size());
                if (follow(replaced, raw, copy)) {
                    context.noteCopied(clone.id, 0, clone.size());
                    return new CloneReport(0, 0, 0, 0, clone.size(), clone.dataBytes);
                }
                clear();
            }
        } finally {
            source.leave();
        }
        throw new PosixException(Reason.EBUSY, "it is truncated or stored again all the time");
    }

    private long storedBytes() {
        synchronized (source) {
            return source.storedBytes;
        }
    }

    /** Copies the pages that were replaced, until the clone is the file. Returns false if it must begin again. */
    private boolean follow(ReplacedPages replaced, @Nullable RawFile raw, RawRecord.@Nullable Copy copy)
            throws IOException {
        int last = LAST_PAGES;
        long[] pages = replaced.take();
        while (pages != null && !isComplete) {
            boolean isLast = pages.length <= last;
            if (isLast && raw == null) {
                // So that writes wait for little.
                context.writer().storeAll(source);
                context.fastTier().storeChanges(source);
            }
            copy(pages);
            pages = isLast ? finish(replaced, last, raw, copy) : replaced.take();
            // A program may replace more pages than that all the time.
            last = Math.min(1 << 20, isLast ? 2 * last : last);
        }
        return isComplete;
    }

    /**
     * Copies the last pages while nothing is written to the file.
     *
     * @param most number of pages that may be copied meanwhile
     * @return pages that are to be copied before; null: it must begin again
     */
    private long @Nullable [] finish(
            ReplacedPages replaced, int most, @Nullable RawFile raw, RawRecord.@Nullable Copy copy) throws IOException {
        begin();
        InodeState ofCopy = copy == null ? null : context.tree().stateOfCopy(source, copy);
        if (copy != null && ofCopy == null) {
            return null;
        }
        Node.Contents contents = source.contents();
        contents.lockUncut();
        try {
            source.pauseWrites();
            try {
                if (raw == null) {
                    context.writer().storeAll(source);
                    context.fastTier().storeChanges(source);
                }
                long[] pages = replaced.take();
                long size = copy == null ? source.size() : copy.size();
                boolean isOther = raw != null && !isStill(raw, copy);
                if (pages == null || pages.length > most || isOther || size < clone.size()) {
                    return isOther || size < clone.size() ? null : pages;
                }
                for (long page : pages) {
                    copyHeld(page * pageBytes, Math.min(size, (page + 1) * pageBytes));
                }
                end(ofCopy == null ? context.tree().state(source) : ofCopy);
                isComplete = true;
                return pages;
            } finally {
                source.resumeWrites();
            }
        } finally {
            contents.storing.unlock();
        }
    }

    /** Returns whether the recipe of a raw file is still the copy that was made. */
    private static boolean isStill(RawFile raw, RawRecord.@Nullable Copy copy) {
        return copy != null && copy.equals(raw.record().copy());
    }

    /** Gives the clone the length and the attributes that the file has at the moment of its bytes. */
    private void end(InodeState state) throws IOException {
        Attributes of = state.attributes();
        metadata.quotas().prepare(of.uid(), of.gid());
        committer.changes().lock();
        try {
            context.nodes().charge(clone, metadata.quotas().account(of.uid(), of.gid(), clone.project()), true);
            synchronized (clone) {
                clone.mode = of.mode();
                clone.size = of.size();
                clone.storedBytes = of.size();
                clone.accessedNs = of.accessedNs();
                clone.modifiedNs = of.modifiedNs();
            }
            context.attributes().putAll(clone, state.extended());
            context.nodes().markDirty(clone);
        } finally {
            committer.changes().unlock();
        }
    }

    /** Copies pages, neighbours together. */
    private void copy(long[] pages) throws IOException {
        int next = 0;
        while (next < pages.length) {
            int end = next + 1;
            while (end < pages.length && pages[end] == pages[end - 1] + 1) {
                end++;
            }
            copy(pages[next] * pageBytes, (pages[end - 1] + 1) * pageBytes);
            next = end;
        }
    }

    private void copy(long from, long to) throws IOException {
        long at = from;
        while (at < to) {
            begin();
            Node.Contents contents = source.contents();
            try (HeldRecipe ofSource = hold(source, at, to);
                    HeldRecipe ofClone = hold(clone, at, to)) {
                long held = Math.min(to, Math.min(ofSource.endByte(), ofClone.endByte()));
                contents.lockUncut();
                try {
                    long end = Math.min(held, storedBytes());
                    if (at >= end) {
                        // It was truncated, or ends before the last page does.
                        return;
                    }
                    at = change(at, end);
                } finally {
                    contents.storing.unlock();
                }
            }
        }
    }

    /** Copies a range of one page while the storing lock is held. */
    private void copyHeld(long from, long to) throws IOException {
        for (long at = from; at < to; ) {
            try (HeldRecipe ofSource = hold(source, at, to);
                    HeldRecipe ofClone = hold(clone, at, to)) {
                at = change(at, Math.min(to, Math.min(ofSource.endByte(), ofClone.endByte())));
            }
        }
    }

    /** Checks, with no lock held, what each step needs. */
    private void begin() throws IOException {
        watcher.look();
        committer.checkWritable();
        context.collector().admitMetadata(STEP_BYTES);
    }

    private HeldRecipe hold(Node node, long from, long to) throws IOException {
        return recipes.hold(node.id, from / pageBytes, (to - 1) / pageBytes + 1, STEP.pages());
    }

    /**
     * Copies a range in one change of the metadata, as far as a step goes.
     *
     * @return the offset up to which it is copied
     */
    private long change(long from, long to) throws IOException {
        copiedTo = from;
        committer.changes().lock();
        // Nobody locks the pages of a snapshot: the collector must not give up what they refer to meanwhile.
        try (GracePeriod.Use use = context.collector().uses().begin()) {
            return from
                    + metadata.ranges()
                            .copy(new RecipeRanges.Copy(source.id, from, clone.id, from, to - from), STEP, this);
        } catch (PosixException e) {
            if (e.reason() != Reason.EOPNOTSUPP) {
                throw e;
            }
        } finally {
            giveBack();
            context.nodes().markDirty(clone);
            committer.changes().unlock();
        }
        return copiedTo > from ? copiedTo : storeAgain(from, Math.min(to, (from / pageBytes + 1) * pageBytes));
    }

    /**
     * Stores bytes of one page a second time, because one of their chunks cannot get another reference. The storing
     * lock of the source is held, so nothing may be collected to make room.
     */
    private long storeAgain(long from, long to) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) (to - from));
        try (GracePeriod.Use use = context.collector().uses().begin()) {
            context.restore().read(source.id, from, bytes.capacity(), bytes);
        }
        context.devices().admitData(bytes.capacity(), context.underWayBytes());
        growing(bytes.capacity());
        try {
            var unused = context.ingest()
                    .store(
                            new ArrayRun(from, bytes.array(), true),
                            new IngestPipeline.Destination(clone.id, clone.storedBytes, -1, true),
                            (start, end) -> extend(Math.min(end, to)));
        } catch (WriteFailedException e) {
            throw committer.stoppedBy(e);
        } finally {
            giveBack();
            context.nodes().markDirty(clone);
        }
        return to;
    }

    /** Takes capacity for a page before it is added. The node takes it, too, when the page is added. */
    @Override
    public void growing(long bytes) throws IOException {
        context.capacity().take(clone.account(), bytes, true);
        growing = bytes;
    }

    @Override
    public void copied(long from, long to) {
        giveBack();
        extend(to);
        copiedTo = to;
    }

    private void giveBack() {
        context.capacity().change(clone.account(), -growing);
        growing = 0;
    }

    private void extend(long to) {
        synchronized (clone) {
            clone.size = Math.max(clone.size, to);
            clone.storedBytes = clone.size;
        }
    }

    /** Makes the clone empty. */
    private void clear() throws IOException {
        boolean isEmpty = false;
        while (!isEmpty) {
            begin();
            try (HeldRecipe held = hold(clone, 0, Long.MAX_VALUE)) {
                committer.changes().lock();
                try {
                    isEmpty = recipes.removePages(held, STEP) == held.pages() && held.isAll();
                    synchronized (clone) {
                        clone.size = isEmpty ? 0 : clone.size;
                        clone.storedBytes = clone.size;
                    }
                    context.nodes().markDirty(clone);
                } finally {
                    committer.changes().unlock();
                }
            }
        }
    }
}
