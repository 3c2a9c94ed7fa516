package org.opendedup.sar.volume.rewrite;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.ingest.ChunkRewriter;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Arranges the chunks of a volume as its newest files want them, while it is in use. No collection may run meanwhile.
 *
 * <ol>
 *   <li>Read the recipes of the newest files, and choose pieces that cost a reader more than they are worth
 *       ({@link ReadPlan}).
 *   <li>Store their chunks once more, next to each other in the order of the files. The index still leads writers to
 *       the old copies: so it leads to nothing that a run which ends early leaves without references.
 *   <li>Read all recipes, and replace each reference to an old copy: so no copy is needed twice.
 *   <li>Make the index lead to the new copies.
 * </ol>
 *
 * The old copies are then garbage, and the next collection returns their space. Old and new copy have the same bytes,
 * and a commit forces containers before it writes recipes. So whenever the volume crashes, each reference leads to a
 * copy that exists. A reference that the pass misses, because a file that it has passed was changed or copied, keeps
 * the old copy: this costs its space and nothing else. For use by one thread, once.
 */
public final class Arranger {
    private static final Logger log = LoggerFactory.getLogger(Arranger.class);

    /** Longest window, in bytes of files: bounds the memory of a {@link ReadPlan} to some ten MB. */
    private static final long MAX_WINDOW_BYTES = 512L << 20;
    /** Pages read at a time, so that no database cursor stays open for a time that others notice. */
    private static final int PAGES = 64;
    /** Chunks read at a time, in the order of the disk: 4 MiB with chunks of 8 KiB. */
    private static final int READ_CHUNKS = 4 * ChunkRewriter.MAX_CHUNKS;

    private final VolumeContext context;
    private final MetadataStore metadata;
    private final ChunkRewriter rewriter;
    private final DiskModel disk;
    private final ArrangementLimits limits;
    private final Progress progress;
    private final BooleanSupplier isHindering;
    private final long windowBytes;
    private final Moves moves = new Moves();
    private final ChunkReader reader;
    private final ReferencePass pass;

    private ReadPlan plan;
    private long plannedBytes;
    private long lastContainer;
    private @Nullable LocatedTable lastTable;
    private boolean isUnreadable;

    private long doneBytes;
    private long allBytes;
    private long leftToMove;
    private boolean stopped;
    private boolean isShort;
    private boolean isHindered;
    private long files;
    private long bytes;
    private double secondsBefore;
    private double secondsAfter;
    private long movedChunks;
    private long movedBytes;
    private long skippedFiles;

    /**
     * @param disk the disk for which read times are predicted
     * @param windowBytes bytes of files over which a reader keeps data in memory
     * @param isHindering tells whether others wait for the end of the arrangement; it then ends early
     */
    public Arranger(
            VolumeContext context,
            ChunkRewriter rewriter,
            DiskModel disk,
            long windowBytes,
            ArrangementLimits limits,
            Progress progress,
            BooleanSupplier isHindering) {
        this.context = context;
        this.rewriter = rewriter;
        this.disk = disk;
        this.isHindering = isHindering;
        this.limits = limits;
        this.progress = progress;
        this.windowBytes = Math.min(MAX_WINDOW_BYTES, windowBytes);
        metadata = context.metadata();
        reader = new ChunkReader(context.restore().inBackground());
        plan = new ReadPlan(disk);
        pass = new ReferencePass(context);
    }

    /**
     * Arranges once. What is moved stays moved if it is stopped, or fails.
     *
     * @throws InterruptedIOException if {@code progress} stopped it
     */
    public ArrangementReport run() throws IOException {
        pass.settle();
        long storedBytes = metadata.totals().stored().bytes();
        leftToMove = (long) (limits.movedShare() * storedBytes);
        // The newest state of everything has at most as many bytes as are stored, unless it has duplicates of its own.
        List<NewestFiles.Sequence> newest = NewestFiles.of(metadata.namespace(), storedBytes);
        allBytes = newest.stream().mapToLong(NewestFiles.Sequence::bytes).sum()
                + metadata.totals().logicalBytes();
        for (NewestFiles.Sequence sequence : newest) {
            if (!goesOn() || moves.isFixedFull()) {
                break;
            }
            arrange(sequence);
        }
        replaceReferences();
        pass.settle();
        if (stopped) {
            throw new InterruptedIOException("the arrangement was stopped");
        }
        return new ArrangementReport(
                files,
                bytes,
                secondsBefore,
                secondsAfter,
                movedChunks,
                movedBytes,
                pass.replaced(),
                skippedFiles,
                !isHindered && !isShort);
    }

    private boolean goesOn() {
        try {
            progress.at("arranging", Math.min(doneBytes, allBytes), allBytes);
        } catch (InterruptedIOException e) {
            stopped = true;
        }
        isHindered |= isHindering.getAsBoolean();
        return !stopped && !isHindered && !isShort;
    }

    private void arrange(NewestFiles.Sequence sequence) throws IOException {
        for (long inode : sequence.inodes()) {
            if (!goesOn()) {
                return;
            }
            isUnreadable = false;
            try {
                read(inode);
            } catch (CorruptionException | UnsupportedFormatException e) {
                isUnreadable = true;
                log.warn("inode {} is not arranged: {}", inode, e.getMessage());
            }
            files++;
            skippedFiles += isUnreadable ? 1 : 0;
        }
        moveChosen();
    }

    private void read(long inode) throws IOException {
        for (long next = 0; goesOn(); ) {
            long[] pages = metadata.recipes().existingPages(inode, next, Long.MAX_VALUE, PAGES);
            if (pages.length == 0) {
                return;
            }
            next = pages[pages.length - 1] + 1;
            for (long page : pages) {
                // One at a time: a page that refers to single bytes takes megabytes of memory.
                want(metadata.recipes().page(inode, page));
            }
            if (plannedBytes >= windowBytes) {
                moveChosen();
            }
        }
    }

    private void want(RecipePage recipe) throws IOException {
        for (int entry = 0; entry < recipe.count(); entry++) {
            long chunkId = recipe.chunkId(entry);
            // A chunk that is moved already is read from its new place.
            LocatedTable at =
                    recipe.isZero(entry) || moves.copies().copyOf(chunkId) != ChunkId.NONE ? null : placeOf(chunkId);
            if (at != null) {
                plan.want(chunkId, at, recipe.length(entry), !moves.isFixed(chunkId));
            }
        }
        plannedBytes += recipe.dataBytes();
        bytes += recipe.dataBytes();
        doneBytes += recipe.dataBytes();
    }

    /** Returns the place of a chunk's container; null if the container cannot be read. */
    private @Nullable LocatedTable placeOf(long chunkId) throws InterruptedIOException {
        long container = ChunkId.container(chunkId);
        if (container != lastContainer) {
            lastContainer = container;
            lastTable = null;
            try {
                lastTable = context.containers().located(container);
            } catch (InterruptedIOException e) {
                throw e;
            } catch (IOException e) {
                isUnreadable = true;
                log.debug("container {} is left where it is", container, e);
            }
        }
        return lastTable;
    }

    /** Ends the window: chooses chunks of it and stores these once more. */
    private void moveChosen() throws IOException {
        secondsBefore += plan.seconds();
        List<Long> chosen = plan.choose(leftToMove, limits.gain());
        secondsAfter += plan.seconds();
        plan.forEachStaying(moves::fix);
        plan = new ReadPlan(disk);
        plannedBytes = 0;
        lastContainer = 0;
        for (int from = 0; from < chosen.size() && goesOn(); from += READ_CHUNKS) {
            move(chosen.subList(from, Math.min(chosen.size(), from + READ_CHUNKS)));
        }
    }

    private void move(List<Long> chunks) throws IOException {
        List<Map.Entry<Long, byte[]>> read = new ArrayList<>(reader.read(chunks).entrySet());
        for (int from = 0; from < read.size(); from += ChunkRewriter.MAX_CHUNKS) {
            Map<Long, byte[]> some = new LinkedHashMap<>();
            long someBytes = 0;
            for (Map.Entry<Long, byte[]> chunk :
                    read.subList(from, Math.min(read.size(), from + ChunkRewriter.MAX_CHUNKS))) {
                some.put(chunk.getKey(), chunk.getValue());
                someBytes += chunk.getValue().length;
            }
            context.collector().pace().await(someBytes, this::goesOn);
            try {
                pass.admit(someBytes);
                store(some);
            } catch (NoSpaceException e) {
                log.debug("there is no room for more copies: {}", e.getMessage());
                isShort = true;
                return;
            }
        }
        if (moves.copies().isFull()) {
            allBytes += metadata.totals().logicalBytes();
            replaceReferences();
        }
    }

    private void store(Map<Long, byte[]> chunks) throws IOException {
        ChunkRewriter.Copies copies = rewriter.append(chunks);
        // From now on the copies are garbage that may be referred to. They stay, because no collection runs. Writers
        // take the old ones for duplicates until the references are replaced: a run that ends early loses none of them.
        rewriter.tellLengths(context.committer().changes());
        rewriter.keep();
        copies.copies().forEach(moves::add);
        movedChunks += copies.freshChunks();
        movedBytes += copies.freshBytes();
        leftToMove -= copies.freshBytes();
    }

    /** Makes every recipe refer to the new copies. */
    private void replaceReferences() throws IOException {
        if (moves.copies().count() == 0) {
            return;
        }
        // Also if there was no room for more copies: what is moved already needs the rest of its references.
        boolean isWhole = pass.run(
                moves.copies(), () -> goesOn() || isShort && !stopped && !isHindered, passed -> doneBytes += passed);
        if (isWhole) {
            rewriter.insertKept();
        } else {
            rewriter.dropKept();
        }
        moves.copies().clear();
    }
}
