package org.opendedup.sar.ingest;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.container.ContainerWriter;
import org.opendedup.sar.hot.copies.AccessListener;
import org.opendedup.sar.ingest.ContentsBeingStored.Content;
import org.opendedup.sar.metadata.recipes.HeldRecipe;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.record.RecipePage;

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
    private final ContentsBeingStored contents;
    /** The contents that this segment claimed. */
    private final List<Content> claimed = new ArrayList<>();
    /** For each chunk, {@link ContentsBeingStored#ended} before the look-up. */
    private int[] endedBefore = new int[512];

    private final Segment asked = new Segment(0);
    private final RecipePage.Builder page = new RecipePage.Builder();
    private final WrittenDuplicates written;

    /** See {@link IngestPipeline#IngestPipeline}. */
    SegmentStore(
            IngestStores stores,
            ForgivingIndex index,
            ContentsBeingStored contents,
            Lock changes,
            LongPredicate damaged,
            @Nullable AccessListener promotion,
            IngestStatistics statistics) {
        this.stores = stores;
        this.index = index;
        this.contents = contents;
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

    /** Looks the chunks of a segment up, and forgets hints that cannot be used. */
    void find(Segment segment) throws IOException {
        index.lookup(segment);
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (!isUsable(segment.hint(chunk))) {
                segment.setHint(chunk, ChunkId.NONE);
            }
        }
    }

    private void storeFingerprinted(Segment segment, List<SegmentPart> parts, ContainerWriter writer)
            throws IOException {
        noteEnded(segment);
        index.lookup(segment);
        try {
            boolean fresh = storeNew(segment, writer);
            refer(segment, parts);
            if (fresh) {
                index.insert(segment);
            }
        } finally {
            claimed.forEach(contents::end);
            claimed.clear();
        }
    }

    /** Changes the recipes of the parts. All chunks have copies. */
    private void refer(Segment segment, List<SegmentPart> parts) throws IOException {
        List<HeldRecipe> held = new ArrayList<>(parts.size());
        try {
            // Reads before acquiring the lock: a thread that waits for the disk while it holds the lock makes others
            // wait.
            for (SegmentPart part : parts) {
                hold(segment, part, held);
            }
            changes.lock();
            try {
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

    private void noteEnded(Segment segment) {
        if (endedBefore.length < segment.count()) {
            endedBefore = new int[2 * segment.count()];
        }
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            endedBefore[chunk] = contents.ended(segment.fingerprints(), Segment.fingerprintOffset(chunk));
        }
    }

    /** Stores the chunks that have no hint, or one that cannot be used. Returns whether there are such. */
    private boolean storeNew(Segment segment, ContainerWriter writer) throws IOException {
        List<Integer> unknown = new ArrayList<>();
        List<Integer> known = new ArrayList<>();
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            if (segment.isZero(chunk)) {
                statistics.zeroBytes.add(segment.length(chunk));
            } else {
                (segment.hint(chunk) == ChunkId.NONE ? unknown : known).add(chunk);
            }
        }
        boolean fresh = findOrStore(segment, unknown, writer);
        List<Integer> unusable = new ArrayList<>();
        for (int chunk : known) {
            if (isUsable(segment.hint(chunk))) {
                statistics.duplicateBytes.add(segment.length(chunk));
            } else {
                unusable.add(chunk);
            }
        }
        return findOrStore(segment, unusable, writer) || fresh;
    }

    /** Finds or stores a copy for each of the chunks. Returns whether one was stored. */
    private boolean findOrStore(Segment segment, List<Integer> chunks, ContainerWriter writer) throws IOException {
        if (chunks.isEmpty()) {
            return false;
        }
        duplicates.clear(segment.count());
        List<Integer> rest = new ArrayList<>(chunks);
        rest.removeIf(chunk -> duplicates.firstOf(segment, chunk) != chunk);
        while (!rest.isEmpty()) {
            rest = storeOrShare(segment, rest, writer);
        }
        boolean fresh = false;
        for (int chunk : chunks) {
            segment.setChunkId(chunk, segment.chunkId(duplicates.firstOf(segment, chunk)));
            if (segment.isFresh(chunk)) {
                fresh = true;
            } else {
                statistics.duplicateBytes.add(segment.length(chunk));
            }
        }
        return fresh;
    }

    /**
     * Stores those of the chunks that nobody else stores at this moment, and then takes the copies of the others.
     * Returns the chunks of which another thread failed to store a copy.
     */
    private List<Integer> storeOrShare(Segment segment, List<Integer> chunks, ContainerWriter writer)
            throws IOException {
        Map<Integer, Content> own = new LinkedHashMap<>();
        Map<Integer, Content> others = new LinkedHashMap<>();
        for (int chunk : chunks) {
            Content content = new Content(segment.fingerprints(), Segment.fingerprintOffset(chunk));
            Content other = contents.claim(content);
            if (other == null) {
                claimed.add(content);
                own.put(chunk, content);
            } else {
                others.put(chunk, other);
            }
        }
        takeInserted(segment, own);
        append(segment, own.keySet(), writer);
        own.forEach((chunk, content) -> content.settle(segment.chunkId(chunk)));
        List<Integer> rest = new ArrayList<>();
        List<Integer> unusable = new ArrayList<>();
        for (var other : others.entrySet()) {
            long id = other.getValue().await();
            if (id == ChunkId.NONE) {
                rest.add(other.getKey());
            } else if (isUsable(id)) {
                segment.setChunkId(other.getKey(), id);
            } else {
                unusable.add(other.getKey());
            }
        }
        append(segment, unusable, writer);
        return rest;
    }

    /** Takes the copies of claimed contents that another thread has inserted since the look-up; removes these. */
    private void takeInserted(Segment segment, Map<Integer, Content> own) throws IOException {
        asked.clear();
        List<Integer> chunks = new ArrayList<>();
        for (int chunk : own.keySet()) {
            int offset = Segment.fingerprintOffset(chunk);
            if (contents.ended(segment.fingerprints(), offset) != endedBefore[chunk]) {
                asked.add(0, segment.length(chunk), false);
                System.arraycopy(
                        segment.fingerprints(),
                        offset,
                        asked.fingerprints(),
                        Segment.fingerprintOffset(chunks.size()),
                        Fingerprints.BYTES);
                chunks.add(chunk);
            }
        }
        if (chunks.isEmpty()) {
            return;
        }
        index.lookup(asked);
        for (int i = 0; i < chunks.size(); i++) {
            int chunk = chunks.get(i);
            segment.setHint(chunk, asked.hint(i));
            if (isUsable(asked.hint(i))) {
                requireNonNull(own.remove(chunk)).settle(asked.hint(i));
            }
        }
    }

    /** Stores chunks. Their copies can be referenced from then on. */
    private void append(Segment segment, Collection<Integer> chunks, ContainerWriter writer) throws IOException {
        if (chunks.isEmpty()) {
            return;
        }
        for (int chunk : chunks) {
            long id = writer.append(
                    segment.data(),
                    segment.offset(chunk),
                    segment.length(chunk),
                    segment.fingerprints(),
                    Segment.fingerprintOffset(chunk));
            segment.setChunkId(chunk, id);
            segment.setFresh(chunk, true);
        }
        // Holds no page, only the counts: nobody may wait for the disk while it holds the lock.
        try (HeldRecipe held = recipes.holdFew(0, 0, 0)) {
            for (int chunk : chunks) {
                held.holdCount(segment.chunkId(chunk));
            }
            changes.lock();
            try {
                for (int chunk : chunks) {
                    stores.metadata().counts().addNew(segment.chunkId(chunk), segment.length(chunk), 0);
                }
            } finally {
                changes.unlock();
            }
        }
    }

    private boolean isUsable(long hint) throws IOException {
        return hint != ChunkId.NONE && stores.metadata().counts().isReferable(hint) && !damaged.test(hint);
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
