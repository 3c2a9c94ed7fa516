package org.opendedup.sar.restore;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.RecipeStore;

/**
 * All readers in sequence that are read ahead for. They share the memory, and the threads that make their steps: first asked, first
 * served, so that each gets its turn. Safe for use by many threads.
 */
final class ReadStreams {
    /** A reader that asks for nothing for so long gives its memory back; it is read ahead for again when it goes on. */
    private static final long IDLE_SECONDS = 10;

    private final RecipeStore recipes;
    private final int pageBytes;
    private final StepReads reads;
    private final StreamBudget budget;
    private final ScheduledExecutorService threads;
    private final Set<Lookahead> active = ConcurrentHashMap.newKeySet();

    ReadStreams(
            RecipeStore recipes,
            int pageBytes,
            StepReads reads,
            StreamBudget budget,
            ScheduledExecutorService threads) {
        this.recipes = recipes;
        this.pageBytes = pageBytes;
        this.reads = reads;
        this.budget = budget;
        this.threads = threads;
        threads.scheduleWithFixedDelay(
                () -> tidy(TimeUnit.SECONDS.toNanos(IDLE_SECONDS)), IDLE_SECONDS, IDLE_SECONDS, TimeUnit.SECONDS);
    }

    /** Reads ahead of a reader from byte {@code from} of a file of {@code size} bytes on; null: too many others are read ahead for. */
    @Nullable
    Lookahead start(long inode, long from, long size) throws IOException {
        StreamBudget.Share share = budget.tryJoin();
        if (share == null) {
            return null;
        }
        try {
            RecipeCursor cursor = new RecipeCursor(recipes, pageBytes, inode, from);
            Lookahead started =
                    new Lookahead(reads, share, inode, cursor, from, size, this::requestStep, active::remove);
            active.add(started);
            return started;
        } catch (IOException | RuntimeException e) {
            share.leave();
            throw e;
        }
    }

    /** All readers now. */
    List<StreamStatus> status() {
        return active.stream().map(Lookahead::status).toList();
    }

    private boolean requestStep(Lookahead lookahead) {
        try {
            threads.execute(lookahead::step);
            return true;
        } catch (RejectedExecutionException closing) {
            return false;
        }
    }

    /** Takes their memory from readers that ask for nothing for so long. */
    void tidy(long idleNanos) {
        active.forEach(reader -> reader.closeIfIdle(idleNanos));
        reads.held().trim();
    }
}
