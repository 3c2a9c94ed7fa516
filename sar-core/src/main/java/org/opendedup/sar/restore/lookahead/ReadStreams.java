package org.opendedup.sar.restore.lookahead;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.metadata.record.RecipePages;
import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.ssd.ChunkRequest;

/**
 * All sequential readers that are read ahead. They share the memory and the threads that run their batches. Batches are
 * served in the order of their requests. Safe for use by many threads.
 */
public final class ReadStreams {
    /**
     * Seconds without a request after which a reader's memory is released; reading ahead starts again when it
     * continues.
     */
    static final long IDLE_SECONDS = 10;

    private final RecipePages recipes;
    private final BatchSources sources;
    private final StreamBudget budget;
    private final ScheduledExecutorService threads;
    private final Set<Lookahead> active = ConcurrentHashMap.newKeySet();
    /** Number of positions that all readers remember. */
    private final AtomicInteger knownPositions = new AtomicInteger();
    /** Readers that had a share of the memory when last checked. */
    private final Set<ParkedChunks> sharing = ConcurrentHashMap.newKeySet();

    public ReadStreams(
            RecipePages recipes, BatchSources sources, StreamBudget budget, ScheduledExecutorService threads) {
        this.recipes = recipes;
        this.sources = sources;
        this.budget = budget;
        this.threads = threads;
        threads.scheduleWithFixedDelay(
                Threads.lasting(() -> tidy(TimeUnit.SECONDS.toNanos(IDLE_SECONDS))),
                IDLE_SECONDS,
                IDLE_SECONDS,
                TimeUnit.SECONDS);
    }

    /** Returns what remembers the positions of a new reader. */
    ReadPositions newPositions() {
        // As much memory as for the folders by which the readers of trees are found, and a few for each open file.
        return new ReadPositions(knownPositions, (int) (budget.mostTrailBytes() / ReadPositions.POSITION_BYTES));
    }

    /**
     * Takes a share of the memory for a new reader; chunks at positions that it leaves are parked there. Null if too
     * many others are read ahead.
     */
    @Nullable
    ParkedChunks tryJoin(ReadCredit credit) {
        ParkedChunks parked = new ParkedChunks(sources.pinned(), credit);
        if (!parked.tryJoin(budget)) {
            return null;
        }
        sharing.add(parked);
        return parked;
    }

    /** Drops what is parked for a reader that is closed. */
    void close(ParkedChunks parked) {
        parked.close();
        sharing.remove(parked);
    }

    /**
     * Reads ahead of one position of a reader, from byte {@code from} of a file up to byte {@code end}; null if there
     * is no memory for another position.
     *
     * @param parked what {@link #tryJoin} returned for the reader
     */
    @Nullable
    Lookahead start(ParkedChunks parked, long inode, long from, long end) throws IOException {
        return start(parked, recipes, inode, from, end);
    }

    /** As {@link #start(ParkedChunks, long, long, long)}, along another recipe than those of this. */
    @Nullable
    Lookahead start(ParkedChunks parked, RecipePages recipes, long inode, long from, long end) throws IOException {
        StreamBudget.Part part = parked.share().tryPart();
        if (part == null) {
            return null;
        }
        try {
            RecipeCursor cursor = new RecipeCursor(recipes, inode, from);
            Lookahead started =
                    new Lookahead(sources, part, parked, inode, cursor, from, end, this::requestBatch, active::remove);
            active.add(started);
            return started;
        } catch (IOException | RuntimeException e) {
            part.leave();
            throw e;
        }
    }

    /** Notes that a reader has taken chunks: unparks and reports those of them that are parked. */
    void took(ParkedChunks parked, Set<Long> chunks) {
        ChunkRequest taken = new ChunkRequest();
        List<PinnedChunks.Pinned> used = new ArrayList<>();
        for (long chunkId : chunks) {
            PinnedChunks.Pinned chunk = sources.pinned().use(chunkId);
            if (chunk == null) {
                continue;
            }
            used.add(chunk);
            if (parked.take(chunkId)) {
                taken.add(chunkId, chunk.length(), chunk.fingerprintPrefix(), -1);
                taken.setData(taken.count() - 1, chunk.data(), chunk.offset(), chunk.length());
            }
        }
        try {
            sources.reportTaken(taken);
        } finally {
            used.forEach(PinnedChunks.Pinned::close);
        }
    }

    /**
     * Returns the bytes of a chunk that any reader holds, to be closed; waits while they are being fetched. Null if it
     * is not held.
     */
    PinnedChunks.@Nullable Pinned chunk(long chunkId) throws IOException {
        try {
            PinnedChunks.Pinned there = sources.pinned().use(chunkId);
            if (there != null) {
                return there;
            }
            sources.noteWait();
            return sources.pinned().await(chunkId);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for what is read ahead");
        }
    }

    /** Returns the status of all readers now, one entry for each position. */
    public List<StreamStatus> status() {
        return active.stream().map(Lookahead::status).toList();
    }

    /** See {@link StreamBudget#mostTrailBytes}. */
    long mostTrailBytes() {
        return budget.mostTrailBytes();
    }

    private boolean requestBatch(Lookahead lookahead) {
        try {
            threads.execute(lookahead::runBatch);
            return true;
        } catch (RejectedExecutionException closing) {
            return false;
        }
    }

    /** Releases the memory of readers that have requested nothing for {@code idleNanos} nanoseconds. */
    void tidy(long idleNanos) {
        active.forEach(reader -> reader.closeIfIdle(idleNanos));
        sharing.forEach(reader -> reader.releaseIfOld(idleNanos));
        sharing.removeIf(reader -> reader.share().hasEnded());
        sources.pinned().trim();
    }
}
