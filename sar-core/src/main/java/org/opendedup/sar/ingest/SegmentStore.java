package org.opendedup.sar.ingest;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.container.ContainerWriter;
import org.opendedup.sar.metadata.HeldRecipe;
import org.opendedup.sar.metadata.RecipePage;
import org.opendedup.sar.metadata.RecipeStore;
import org.opendedup.sar.tier.copies.AccessListener;

/**
 * Stores segments that are cut: fingerprints, looks up, appends what is new, and changes recipes and counts under one
 * hold of the change lock. A segment has parts, each of one file. For one thread at a time.
 */
final class SegmentStore {
    private final IngestStores stores;
    private final ForgivingIndex index;
    private final Lock changes;
    private final LongPredicate damaged;
    private final @Nullable AccessListener promotion;
    private final IngestStatistics statistics;
    private final RecipeStore recipes;
    private final int pageBytes;
    private final SegmentDuplicates duplicates = new SegmentDuplicates();
    private final RecipePage.Builder page = new RecipePage.Builder();
    private final WrittenDuplicates written;

    /** See {@link IngestPipeline#IngestPipeline}. */
    SegmentStore(
            IngestStores stores,
            ForgivingIndex index,
            Lock changes,
            LongPredicate damaged,
            @Nullable AccessListener promotion,
            IngestStatistics statistics) {
        this.stores = stores;
        this.index = index;
        this.changes = changes;
        this.damaged = damaged;
        this.promotion = promotion;
        this.statistics = statistics;
        recipes = stores.metadata().recipes();
        pageBytes = recipes.pageBytes();
        written = new WrittenDuplicates(recipes);
    }

    /**
     * Stores a segment.
     *
     * @param parts all of its chunks, in order
     * @param helped whether several threads may compute the fingerprints
     */
    void store(Segment segment, List<SegmentPart> parts, boolean helped, ContainerWriter writer) throws IOException {
        statistics.segments.increment();
        if (helped) {
            stores.fingerprinter().fingerprint(segment);
        } else {
            stores.fingerprinter().fingerprintAlone(segment);
        }
        try (GracePeriod.Use use = stores.uses().begin()) {
            storeFingerprinted(segment, parts, writer);
        }
        if (promotion != null) {
            for (SegmentPart part : parts) {
                written.report(promotion, segment, part, stores.metadata().counts());
            }
        }
    }

    private void storeFingerprinted(Segment segment, List<SegmentPart> parts, ContainerWriter writer)
            throws IOException {
        index.lookup(segment);
        int fresh = appendNew(segment, writer);
        List<HeldRecipe> held = new ArrayList<>(parts.size());
        try {
            // Reads before acquiring the lock: a thread that waits for the disk while it holds the lock makes others
            // wait.
            for (SegmentPart part : parts) {
                hold(segment, part, held);
            }
            changes.lock();
            try {
                if (fresh > 0) {
                    tellLengths(segment);
                }
                int chunk = 0;
                for (SegmentPart part : parts) {
                    chunk = replacePages(segment, part, chunk);
                }
            } finally {
                changes.unlock();
            }
        } finally {
            held.forEach(HeldRecipe::close);
        }
        if (fresh > 0) {
            index.insert(segment);
        }
    }

    /**
     * Reads the recipe pages of the part's bytes, and holds in memory their counts and the counts of the chunks that
     * they will refer to.
     */
    private void hold(Segment segment, SegmentPart part, List<HeldRecipe> held) throws IOException {
        long firstPage = part.position() / pageBytes;
        long endPage = (part.end() - 1) / pageBytes + 1;
        HeldRecipe pages = recipes.holdFew(part.inode(), firstPage, endPage);
        held.add(pages);
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (part.has(segment, chunk)) {
                pages.holdCount(segment.isZero(chunk) ? ChunkId.NONE : segment.chunkId(chunk));
            }
        }
    }

    /** Verifies the index's hints and stores the chunks that have none. Returns the number of chunks stored. */
    private int appendNew(Segment segment, ContainerWriter writer) throws IOException {
        int fresh = 0;
        duplicates.clear(segment.count());
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            int length = segment.length(chunk);
            if (segment.isZero(chunk)) {
                statistics.zeroBytes.add(length);
                continue;
            }
            if (isUsable(segment.chunkId(chunk))) {
                statistics.duplicateBytes.add(length);
                continue;
            }
            int first = duplicates.firstOf(segment, chunk);
            if (first != chunk) {
                segment.setChunkId(chunk, segment.chunkId(first));
                statistics.duplicateBytes.add(length);
                continue;
            }
            long id = writer.append(
                    segment.data(),
                    segment.offset(chunk),
                    length,
                    segment.fingerprints(),
                    Segment.fingerprintOffset(chunk));
            segment.setChunkId(chunk, id);
            segment.setFresh(chunk, true);
            fresh++;
        }
        return fresh;
    }

    private boolean isUsable(long hint) throws IOException {
        return hint != ChunkId.NONE && stores.metadata().counts().isReferable(hint) && !damaged.test(hint);
    }

    private void tellLengths(Segment segment) throws IOException {
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (segment.isFresh(chunk)) {
                stores.metadata().counts().setLength(segment.chunkId(chunk), segment.length(chunk));
            }
        }
    }

    /**
     * Replaces the recipe's entries for the part's bytes with the segment's references, and notifies the listener of
     * each page.
     *
     * @param firstChunk first chunk of the part
     * @return first chunk of the next part
     */
    private int replacePages(Segment segment, SegmentPart part, int firstChunk) throws IOException {
        int chunk = firstChunk;
        for (long at = part.position(); at < part.end(); ) {
            long number = at / pageBytes;
            long pageStart = number * pageBytes;
            long to = Math.min(part.end(), pageStart + pageBytes);
            RecipePage old = recipes.page(part.inode(), number);
            page.addRange(old, 0, (int) (at - pageStart));
            chunk = addReferences(segment, part, chunk, at, to);
            page.addRange(old, (int) (to - pageStart), pageBytes);
            recipes.replace(part.inode(), number, page.build());
            part.listener().stored(at, to);
            at = to;
        }
        return chunk;
    }

    /** Adds the references for file bytes {@code from} to {@code to}; returns the chunk that contains {@code to}. */
    private int addReferences(Segment segment, SegmentPart part, int firstChunk, long from, long to) {
        int chunk = firstChunk;
        for (long at = from; at < to; ) {
            int inChunk = (int) (at - part.positionOf(segment, chunk));
            int length = (int) Math.min(segment.length(chunk) - inChunk, to - at);
            if (segment.isZero(chunk)) {
                page.add(ChunkId.NONE, 0, length, 0);
            } else {
                int fingerprintPrefix =
                        Fingerprints.fingerprintPrefix(segment.fingerprints(), Segment.fingerprintOffset(chunk));
                page.add(segment.chunkId(chunk), inChunk, length, fingerprintPrefix);
            }
            at += length;
            if (inChunk + length == segment.length(chunk)) {
                chunk++;
            }
        }
        return chunk;
    }
}
