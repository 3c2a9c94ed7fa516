package org.opendedup.sar.heal;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.opendedup.sar.container.Compaction;
import org.opendedup.sar.disk.Pace;

/**
 * Heals containers with damaged chunks while the volume is in use, also those whose pack is missing, one after another,
 * each in this order:
 *
 * <ol>
 *   <li>examine the damaged frames, and find the bytes of their chunks elsewhere
 *   <li>write the container's next generation with these bytes, verified by fingerprints; force it
 *   <li>commit the new place, with a record of the old one
 *   <li>verify all of it in the new place, take the marks of damage back, and commit that
 *   <li>wait until no reader uses the old place, and give it back, unless it may have bytes that were not found
 * </ol>
 *
 * A crash at any point leaves the container in its old place or in its new one; at most, chunks that are healed are
 * still marked, and the next pass finds them sound. For use by one thread, while no collection runs.
 */
public final class Healer {
    /** Time between two looks whether the pins are gone, in milliseconds. */
    private static final long PAUSE_MS = 200;

    /** Work on some containers. */
    @FunctionalInterface
    public interface Part {
        /** @param isWanted whether a collection waits for the end of this; it then ends after the present container */
        void run(BooleanSupplier isWanted) throws IOException;
    }

    /** Does work while no collection runs. */
    @FunctionalInterface
    public interface Turns {
        /**
         * Waits for the end of a running collection, and runs the part.
         *
         * @param goesOn asked while this waits
         * @throws InterruptedIOException if the pass does not go on
         */
        void take(BooleanSupplier goesOn, Part part) throws IOException;
    }

    private final HealParts parts;
    private final HealMarks marks;
    private final HealProgress progress;
    private final Sources sources;
    private final IndexedChunks indexed;
    private HealReport report = HealReport.NONE;
    private boolean stopped;

    public Healer(HealParts parts, HealMarks marks, HealProgress progress) {
        this.parts = parts;
        this.marks = marks;
        this.progress = progress;
        sources = new Sources(parts);
        indexed = new IndexedChunks(parts);
    }

    /**
     * Heals what it can. Lets a collection that waits begin after each container.
     *
     * @param some containers to be looked at, also at their directories
     * @param all whether all containers with damaged chunks are looked at as well; where the index does not lead to a
     *     copy, all directories are then searched for one
     * @throws InterruptedIOException if {@code progress} stopped it
     * @throws org.opendedup.sar.common.NoSpaceException if there is no room for a new generation
     */
    public HealReport run(Set<Long> some, boolean all, Turns turns) throws IOException {
        parts.commits().commit();
        Set<Long> damaged = new TreeSet<>(some);
        if (all) {
            addDamaged(damaged);
        }
        UnhealedContainers unhealed = new UnhealedContainers(HealReport.MAX_UNHEALED);
        healAll(damaged, unhealed, turns);
        if (all && !unhealed.isEmpty() && goesOn() && sources.search(this::goesOn)) {
            healAll(unhealed.containers(), unhealed, turns);
        }
        unhealed.forEach(one -> report = report.plusUnhealed(one));
        if (stopped) {
            throw new InterruptedIOException("the healing was stopped");
        }
        return report;
    }

    private void addDamaged(Set<Long> damaged) throws IOException {
        parts.metadata().containers().forEach(entry -> {
            if (entry.damagedSlots() > 0) {
                damaged.add(entry.container());
            }
        });
        Set<Long> missing = parts.containers().missingPacks().keySet();
        if (!missing.isEmpty()) {
            parts.metadata().containers().forEach(entry -> {
                if (missing.contains(entry.stored().pack())) {
                    damaged.add(entry.container());
                }
            });
        }
    }

    private boolean goesOn() {
        stopped = stopped || !progress.examined(report);
        return !stopped;
    }

    /** @param unhealed gets the chunks of each container that stay damaged */
    private void healAll(Set<Long> containers, UnhealedContainers unhealed, Turns turns) throws IOException {
        Deque<Long> rest = new ArrayDeque<>(new TreeSet<>(containers));
        indexed.expect(missing(containers));
        while (!rest.isEmpty() && goesOn()) {
            turns.take(this::goesOn, isWanted -> healSome(rest, unhealed, isWanted));
        }
    }

    /** Returns those of some containers whose packs are missing. */
    private Set<Long> missing(Set<Long> containers) throws IOException {
        Set<Long> missing = new TreeSet<>();
        for (long container : containers) {
            if (parts.containers().isMissing(container)) {
                missing.add(container);
            }
        }
        return missing;
    }

    private void healSome(Deque<Long> rest, UnhealedContainers unhealed, BooleanSupplier isWanted) throws IOException {
        try (Compaction compaction = parts.containers().compaction(0)) {
            if (compaction.hasOldPlaces()) {
                parts.uses().await();
                compaction.giveBackOldPlaces();
            }
            do {
                if (!begins(isWanted)) {
                    return;
                }
                long container = rest.remove();
                try {
                    unhealed.put(container, heal(container, compaction));
                } finally {
                    parts.pins().end();
                }
            } while (!rest.isEmpty() && !isWanted.getAsBoolean());
        }
    }

    /** Waits until there is no pin; returns false if the pass is stopped, or a collection waits meanwhile. */
    private boolean begins(BooleanSupplier isWanted) throws InterruptedIOException {
        while (goesOn()) {
            if (parts.pins().tryBegin()) {
                return true;
            }
            if (isWanted.getAsBoolean()) {
                return false;
            }
            Pace.pause(PAUSE_MS);
        }
        return false;
    }

    private List<HealReport.Unhealed> heal(long container, Compaction compaction) throws IOException {
        ContainerHealing healing = healing(container, compaction);
        List<HealReport.Unhealed> left = healing.run();
        report = report.plus(healing.report());
        if (healing.foundMore()) {
            // Damage that was not known is marked now.
            healing = healing(container, compaction);
            left = healing.run();
            report = report.plus(healing.report());
        }
        return left;
    }

    private ContainerHealing healing(long container, Compaction compaction) {
        return new ContainerHealing(parts, marks, sources, indexed, compaction, container);
    }
}
