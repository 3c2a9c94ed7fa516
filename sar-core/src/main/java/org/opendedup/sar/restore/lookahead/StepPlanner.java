package org.opendedup.sar.restore.lookahead;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the recipe ahead of one position of a reader, and chooses the references of its next step. The caller holds
 * the monitor of the cache. The monitor of the window is taken where the window is used.
 */
final class StepPlanner {
    private static final Logger log = LoggerFactory.getLogger(StepPlanner.class);

    /**
     * Least mean bytes of a reference in a full step. With smaller references a step ends sooner, because each may need
     * a frame of its own.
     */
    private static final int MIN_REFERENCE_BYTES = 4 << 10;

    private final Object monitor;
    private final RecipeCursor cursor;
    private final StreamBudget.Part budget;
    private final ReaderCache cache;
    private final ReaderWindow window;
    private final TakenChunks taken;
    private final ChunkCharges charges;

    /**
     * @param monitor guards {@code window} and {@code taken}
     * @param cursor iterates over the file from where the window begins
     */
    StepPlanner(
            Object monitor,
            RecipeCursor cursor,
            StreamBudget.Part budget,
            ReaderCache cache,
            ReaderWindow window,
            TakenChunks taken,
            ChunkCharges charges) {
        this.monitor = monitor;
        this.cursor = cursor;
        this.budget = budget;
        this.cache = cache;
        this.window = window;
        this.taken = taken;
        this.charges = charges;
    }

    /**
     * Follows the recipe up to byte {@code end} of the file, until {@code bytes} bytes of chunks are known beyond the
     * plan, or the budget has no room for more references.
     *
     * @param stepBytes bytes of the next step
     */
    void look(long bytes, long end, long stepBytes) {
        long known;
        int room;
        synchronized (monitor) {
            known = window.lookedAtBytes();
            // The next step has to be known, whatever else is planned.
            int next = maxReferences(stepBytes) - window.count() + window.planned();
            room = Math.max(budget.references() - window.count(), next);
        }
        while (known < bytes && room-- > 0) {
            if (!next(end)) {
                synchronized (monitor) {
                    window.lookedTo(end);
                }
                return;
            }
            cache.ahead(cursor.chunkId(), cursor.neededBytes());
            known += cursor.neededBytes();
            synchronized (monitor) {
                window.look(cursor);
            }
        }
    }

    /** Most references of one step. */
    private static int maxReferences(long stepBytes) {
        return (int) Math.max(1, stepBytes / MIN_REFERENCE_BYTES);
    }

    /**
     * Moves to the next reference. The recipe after an unreadable part stays unknown until the reader has reached it.
     */
    private boolean next(long end) {
        try {
            return cursor.next(end);
        } catch (IOException e) {
            log.debug("the recipe can't be followed; the reader will see why", e);
            return false;
        }
    }

    /**
     * Adds the next references to a step, up to byte {@code end} of the file, and holds their chunks.
     *
     * @param most most bytes of the step
     * @param whole whether the cache keeps whole containers, and decides what belongs to a step
     */
    void plan(Step step, long most, long end, boolean whole) throws IOException {
        synchronized (monitor) {
            step.setFirst(window.nextNumber());
            long mostCharged = most + most / 4;
            int mostReferences = maxReferences(most);
            long bytes = 0;
            for (int next = window.planned(); next < window.count(); next = window.planned()) {
                boolean isFull = bytes >= most || step.charged() >= mostCharged || step.references() >= mostReferences;
                // When the window was looked up, the file was longer, or another position of the reader was not known
                // yet.
                boolean isBehind = window.offset(next) >= end;
                if (isFull || isBehind || whole && !cache.goesOn(step, window.chunkId(next))) {
                    break;
                }
                long chunkId = window.chunkId(next);
                int needed = window.neededBytes(next);
                int charged = window.plan(charges.of(chunkId, needed));
                step.add(chunkId, window.check(next), needed, charged);
                bytes += needed;
            }
            step.setPlannedTo(window.endPlan());
            taken.planned(step.first(), step.chunks());
        }
    }
}
