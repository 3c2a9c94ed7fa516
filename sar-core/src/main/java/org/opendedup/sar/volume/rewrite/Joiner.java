package org.opendedup.sar.volume.rewrite;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.join.JoinSource;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.sort.TupleSort;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Joins copies of the same content in a volume that is in use. No collection may run meanwhile.
 *
 * <ol>
 *   <li>Read the directories of all sealed containers, and sort the chunks to which files refer by their fingerprints.
 *   <li>Of copies with the same fingerprint and length choose the one to be kept: the youngest that can be used. Read
 *       it, and verify it by its fingerprint: the others are about to be given up. If it cannot be read, try the next.
 *   <li>Make the index lead to it.
 *   <li>Read all recipes, and replace each reference to another copy.
 * </ol>
 *
 * The copies without references are then garbage, and the next collection returns their space. Nothing is stored anew,
 * and each reference leads to a committed copy, whenever the volume crashes. What is joined is not found again: so a
 * pass that was stopped needs no record of how far it was. Equal fingerprints are taken for equal bytes, as writers do.
 *
 * <p>Memory: at most 16 MiB while it sorts, and 26 MiB while it joins. For use by one thread, once.
 */
final class Joiner {
    private static final Logger log = LoggerFactory.getLogger(Joiner.class);

    /** Bytes of tuples in memory; ordering them takes half as much again. */
    static final int SORT_BYTES = 8 << 20;
    /** Containers whose ids are read at a time, so that no database cursor stays open for long. */
    private static final int CONTAINERS = 512;
    /** Chunks read at a time: 1 MiB with chunks of 8 KiB, 16 MiB with the longest. */
    private static final int READ_CHUNKS = 128;
    /** Chunks of a segment with which the index is asked. */
    private static final int SEGMENT_CHUNKS = 256;
    /** Copies of one content that are tried, until one can be read. */
    private static final int MOST_ROUNDS = 4;
    /** Most copies remembered that cannot be read: some 3 MiB. */
    private static final int MOST_UNREADABLE = 50_000;

    private final VolumeContext context;
    private final MetadataStore metadata;
    private final KeptChunks keptChunks;
    private final Scratch scratch;
    private final JoinLimits limits;
    private final Progress progress;
    private final BooleanSupplier isHindering;
    private final ReferencePass pass;

    private String stage = JoinSource.COMPARING;
    private long done;
    private long planned;
    private boolean stopped;
    private boolean isHindered;
    private boolean isIncomplete;
    private long containers;
    private long skippedContainers;
    private long foundChunks;
    private long foundBytes;
    private long joinedChunks;
    private long joinedBytes;
    /** Copies that could not be read. */
    private final Set<Long> unreadable = new HashSet<>();

    /**
     * @param keptChunks verifies the copies that are kept
     * @param scratch where chunks are sorted: 48 bytes each
     * @param isHindering tells whether others wait for the end of the pass; it then ends early
     */
    Joiner(
            VolumeContext context,
            KeptChunks keptChunks,
            Scratch scratch,
            JoinLimits limits,
            Progress progress,
            BooleanSupplier isHindering) {
        this.context = context;
        this.keptChunks = keptChunks;
        this.scratch = scratch;
        this.limits = limits;
        this.progress = progress;
        this.isHindering = isHindering;
        metadata = context.metadata();
        pass = new ReferencePass(context);
    }

    /**
     * Joins once. What is joined stays joined if it is stopped, or fails.
     *
     * @throws InterruptedIOException if {@code progress} stopped it
     */
    JoinReport run() throws IOException {
        // The directories of all containers then have everything that was written by now.
        pass.settle();
        try (TupleSort sort = new TupleSort(
                scratch.directory(),
                "chunks",
                DuplicateGroups.COLUMNS,
                (int) scratch.memoryBytes(),
                scratch.steps(),
                scratch.keys())) {
            compare(sort);
            if (goesOn()) {
                count(new DuplicateGroups(sort.sorted(Long.MIN_VALUE)));
                long storedBytes = metadata.totals().stored().bytes();
                if (limits.areReached(foundBytes, storedBytes)) {
                    joinAll(sort);
                } else {
                    isIncomplete = foundChunks > 0;
                }
            }
        }
        pass.settle();
        if (stopped) {
            throw new InterruptedIOException("the exact pass was stopped");
        }
        return new JoinReport(
                containers,
                skippedContainers,
                foundChunks,
                foundBytes,
                joinedChunks,
                joinedBytes,
                pass.replaced(),
                unreadable.size(),
                !isHindered && !isIncomplete);
    }

    private boolean goesOn() {
        try {
            progress.at(stage, Math.min(done, planned), planned);
        } catch (InterruptedIOException e) {
            stopped = true;
        }
        isHindered |= isHindering.getAsBoolean();
        return !stopped && !isHindered;
    }

    // --- finding

    private void compare(TupleSort sort) throws IOException {
        long firstFree = metadata.firstFreeContainer();
        context.lossSample().restart(firstFree, context.clock().millis());
        planned = metadata.containers().containers();
        for (long next = 0; goesOn(); ) {
            List<Long> some = sealedFrom(next, firstFree);
            if (some.isEmpty()) {
                context.lossSample().compared();
                return;
            }
            next = some.get(some.size() - 1) + 1;
            for (int i = 0; i < some.size() && goesOn(); i++) {
                compare(some.get(i), sort);
                done++;
            }
        }
    }

    private List<Long> sealedFrom(long first, long end) throws IOException {
        List<Long> sealed = new ArrayList<>();
        metadata.containers().forEachFrom(first, entry -> {
            if (entry.container() < end && entry.stored().state() == StoredContainer.State.SEALED) {
                sealed.add(entry.container());
            }
            return entry.container() < end && sealed.size() < CONTAINERS;
        });
        return sealed;
    }

    private void compare(long container, TupleSort sort) throws IOException {
        ContainerCounts counts = metadata.counts().ofContainer(container);
        SealedContainer directory = counts.slots() == 0 ? null : directory(container);
        if (directory == null) {
            skippedContainers += counts.slots() == 0 ? 0 : 1;
            return;
        }
        containers++;
        byte[] fingerprints = directory.fingerprints();
        long[] tuple = new long[DuplicateGroups.COLUMNS];
        for (int slot = 0; slot < directory.slots(); slot++) {
            int length = directory.length(slot);
            if (length > 0 && counts.isAlive(slot)) {
                int at = slot * Fingerprints.BYTES;
                context.lossSample().add(fingerprints, at, length);
                if (counts.count(slot) > 0) {
                    DuplicateGroups.set(tuple, fingerprints, at, length, ChunkId.of(container, slot));
                    sort.add(tuple);
                }
            }
        }
        context.collector().pace().await(fingerprints.length, this::goesOn);
    }

    private @Nullable SealedContainer directory(long container) throws IOException {
        try (GracePeriod.Use use = context.collector().uses().begin();
                DiskQueue.Turn turn = context.disk().enter(Importance.BACKGROUND)) {
            return context.containers().directory(container);
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            log.warn("the chunks of container {} are not compared: {}", container, e.getMessage());
            return null;
        }
    }

    private void count(DuplicateGroups groups) throws IOException {
        while (groups.next()) {
            foundChunks += groups.size() - 1;
            foundBytes += (groups.size() - 1L) * groups.length();
        }
    }

    // --- joining

    /** A copy that cannot be read is not kept in the next round, where another copy of its content is. */
    private void joinAll(TupleSort sort) throws IOException {
        int before;
        int rounds = 0;
        do {
            before = unreadable.size();
            join(new DuplicateGroups(sort.sorted(Long.MIN_VALUE)));
        } while (goesOn() && unreadable.size() > before && ++rounds < MOST_ROUNDS);
    }

    private void join(DuplicateGroups groups) throws IOException {
        stage = JoinSource.JOINING;
        done = 0;
        long batches = (foundChunks + NewCopies.MAX_CHUNKS - 1) / NewCopies.MAX_CHUNKS;
        planned = batches * metadata.totals().logicalBytes();
        JoinBatch batch = new JoinBatch((int) Math.min(NewCopies.MAX_CHUNKS, foundChunks));
        while (goesOn() && groups.next()) {
            add(groups, batch);
        }
        join(batch);
    }

    private void add(DuplicateGroups group, JoinBatch batch) throws IOException {
        long kept = ChunkId.NONE;
        for (int copy = group.size() - 1; copy >= 0 && kept == ChunkId.NONE; copy--) {
            kept = isUsable(group.chunk(copy)) ? group.chunk(copy) : ChunkId.NONE;
        }
        if (kept == ChunkId.NONE) {
            return;
        }
        for (int copy = 0; copy < group.size(); copy++) {
            long chunk = group.chunk(copy);
            if (chunk != kept && metadata.counts().count(chunk) > 0) {
                if (batch.isFull()) {
                    join(batch);
                }
                batch.add(chunk, kept, group);
            }
        }
    }

    private boolean isUsable(long chunk) throws IOException {
        return !unreadable.contains(chunk)
                && metadata.counts().count(chunk) > 0
                && metadata.counts().isReferable(chunk)
                && !context.damaged().contains(chunk)
                && !context.containers().isMissing(ChunkId.container(chunk));
    }

    private void join(JoinBatch batch) throws IOException {
        verify(batch);
        NewCopies copies = batch.copies();
        if (goesOn() && copies.count() > 0) {
            lead(batch);
            pass.run(copies, this::goesOn, passed -> done += passed);
            for (int entry = 0; entry < batch.count(); entry++) {
                boolean isJoined = copies.copyOf(batch.old(entry)) != ChunkId.NONE
                        && metadata.counts().count(batch.old(entry)) == 0;
                joinedChunks += isJoined ? 1 : 0;
                joinedBytes += isJoined ? batch.length(entry) : 0;
            }
        }
        batch.clear();
    }

    /** Leaves out what has no whole copy to be kept. */
    private void verify(JoinBatch batch) throws IOException {
        long[] kept = batch.kept();
        Set<Long> left = new HashSet<>();
        for (int from = 0; from < kept.length && goesOn(); from += READ_CHUNKS) {
            List<Long> some = new ArrayList<>(Arrays.stream(kept, from, Math.min(kept.length, from + READ_CHUNKS))
                    .boxed()
                    .toList());
            Set<Long> readable = keptChunks.readable(some);
            some.stream().filter(chunk -> !readable.contains(chunk)).forEach(left::add);
            context.collector().pace().await(0, this::goesOn);
        }
        batch.leave(left);
        left.stream().limit(MOST_UNREADABLE - unreadable.size()).forEach(unreadable::add);
    }

    /**
     * Makes the index lead to the copies that are kept. They have references: so a pass that ends early loses none of
     * them. In the order of those that are given up: an index with neighbours finds them where it found these.
     */
    private void lead(JoinBatch batch) throws IOException {
        int[] entries = batch.inOrder();
        Segment segment = new Segment(0);
        for (int from = 0; from < entries.length; from += SEGMENT_CHUNKS) {
            int to = Math.min(entries.length, from + SEGMENT_CHUNKS);
            batch.fill(segment, entries, from, to);
            try {
                lead(batch, segment, entries, from);
            } catch (InterruptedIOException e) {
                throw e;
            } catch (IOException e) {
                log.warn("the index does not lead to all copies that are kept: {}", e.getMessage());
                return;
            }
        }
    }

    private void lead(JoinBatch batch, Segment segment, int[] entries, int from) throws IOException {
        context.index().lookup(segment);
        Set<Long> seen = new HashSet<>();
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            long kept = batch.keptOf(entries[from + chunk]);
            boolean isLedThere = segment.hint(chunk) == kept;
            segment.setChunkId(chunk, kept);
            segment.setFresh(chunk, seen.add(kept) && !isLedThere);
        }
        context.index().insert(segment);
    }
}
