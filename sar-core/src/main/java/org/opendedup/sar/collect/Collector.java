package org.opendedup.sar.collect;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.container.Compaction;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.SealedContainer;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.counts.NewDamage;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.pending.ContainerTable;
import org.opendedup.sar.metadata.record.ContainerEntry;
import org.opendedup.sar.metadata.record.DamageNote.How;
import org.opendedup.sar.metadata.record.StoredCopies;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the garbage of a volume while it is in use. Chooses containers ({@link Victims}) and handles them in
 * batches, each in this order:
 *
 * <ol>
 *   <li>condemn the slots that nothing refers to: from now on no writer takes one for a duplicate
 *   <li>wait until every writer that may have done so before is done
 *   <li>tombstone those of them that still have no reference, and commit
 *   <li>wait until every reader is done that may have read a reference to one of them: such a reference may have been
 *       made and removed while the writers were waited for
 *   <li>copy what remains of each container to another place, verified by fingerprints; force the copies
 *   <li>commit the new places, and the removal of containers of which nothing remains
 *   <li>wait until every reader that may use an old place is done, and give the old places back
 * </ol>
 *
 * A crash at any point leaves each container in its old place or in its new one, and at most some bytes that no
 * container has, which the next collection gives back. So a collection can be stopped after each batch, and the next
 * one goes on from there. For use by one thread.
 */
public final class Collector {
    private static final Logger log = LoggerFactory.getLogger(Collector.class);
    /** Containers of a batch: some hundred MB, so that its commits cost little, copied twice at most for a while. */
    private static final int BATCH = 64;

    /** Time between two looks whether the pins are gone, in milliseconds. */
    private static final long PAUSE_MS = 200;

    /**
     * The parts of a volume that a collection uses.
     *
     * @param uses open while a writer relies on a stored copy without having a reference to it, and while a reader uses
     *     a reference that it has read
     * @param pins of operations that read for longer
     * @param disk queue of the device that holds the containers
     * @param damage hears of damage that a collection finds
     * @param ownsPacks whether all packs in the data location are of this history of the volume, so that strays may be
     *     given back
     */
    public record Parts(
            MetadataStore metadata,
            ContainerStore containers,
            ChunkIndex index,
            Commits commits,
            GracePeriod uses,
            Pins pins,
            DiskQueue disk,
            NewDamage damage,
            boolean ownsPacks) {}

    private final Parts parts;
    private final ReferenceCounts counts;
    private final Pace pace;
    private final CollectionProgress progress;

    /** Packs that are to be left by all their containers; empty: each container is chosen by its garbage. */
    private Set<Long> leaving = Set.of();

    /** Whether the space of a container comes back, and not only that of a whole pack. */
    private boolean givesPlacesBack = true;

    private long removed;
    private long rewritten;
    private long recompressed;
    private long incompressible;
    private long kept;
    private long copiedBytes;
    private long savedBytes;
    private long givenBackBytes;
    private long strayBytes;
    private long doneBytes;
    private long chosenBytes;
    private boolean stopped;

    public Collector(Parts parts, Pace pace, CollectionProgress progress) {
        this.parts = parts;
        this.pace = pace;
        this.progress = progress;
        counts = parts.metadata().counts();
    }

    /**
     * Does one collection: of the garbage, then, if that is wanted, of containers that are only compressed anew.
     *
     * @throws InterruptedIOException if {@code progress} stopped it
     * @throws NoSpaceException if the disk has no room for the copies; what was given back before stays given back
     */
    public CollectionReport run(CollectionLimits limits, Recompression recompression) throws IOException {
        return run(limits, recompression, Set::of);
    }

    /** Tells which packs are to be left by all their containers; none gets a further one. */
    @FunctionalInterface
    public interface Leaving {
        Set<Long> packs() throws IOException;
    }

    /** As above; also moves all containers of some packs, which are then deleted. */
    public CollectionReport run(CollectionLimits limits, Recompression recompression, Leaving packs)
            throws IOException {
        // Only a container that is complete can be collected.
        parts.containers().endAll();
        parts.commits().commit();
        leaving = packs.packs();
        Victims victims;
        try (Compaction compaction = parts.containers().compaction(recompression.level())) {
            givesPlacesBack = compaction.givesPlacesBack();
            victims = choose(limits.garbageShare(), recompression, compaction);
            chosenBytes = victims.chosenBytes() + victims.recompressBytes();
            if (limits.dryRun()) {
                return report(victims, victims.garbageBytes() - victims.chosenGarbageBytes());
            }
            if (compaction.hasOldPlaces()) {
                // An earlier collection failed after a commit, or its changes waited for the commit above.
                giveBack(compaction);
            }
            collect(victims::next, compaction, false, () -> false);
            recompress(victims, compaction, recompression);
            if (goesOn()) {
                if (!leaving.isEmpty()) {
                    compaction.makeBound();
                }
                sweep(compaction);
            }
            if (limits.garbageShare() < 1 && goesOn()) {
                Set<Long> leftOpen = parts.containers().leftOpen();
                new LostContainers(parts.metadata(), parts.commits(), parts.uses(), leftOpen).forgetGarbage();
            }
        }
        if (stopped) {
            throw new InterruptedIOException("the garbage collection was stopped");
        }
        return report(victims, parts.metadata().containers().garbageBytes());
    }

    private Victims choose(double garbageShare, Recompression recompression, Compaction compaction) throws IOException {
        ContainerTable table = parts.metadata().containers();
        if (!leaving.isEmpty()) {
            return Victims.ofPacks(table, leaving);
        }
        if (givesPlacesBack) {
            return Victims.choose(table, garbageShare, recompression);
        }
        // To copy a container from a pack that stays would only take more space.
        Map<Long, Long> packBytes = parts.ownsPacks() ? compaction.packBytes() : Map.of();
        return Victims.ofPacks(table, DeadPacks.choose(table, packBytes, garbageShare, compaction::leastDeadShare));
    }

    /**
     * Gives back what no container has. Where only whole packs come back, these are what the collected containers give.
     *
     * @return bytes given back
     */
    private long sweep(Compaction compaction) throws IOException {
        if (!parts.ownsPacks()) {
            return 0;
        }
        long bytes = compaction.sweep();
        if (givesPlacesBack) {
            strayBytes += bytes;
        } else {
            givenBackBytes += bytes;
            goesOn();
        }
        return bytes;
    }

    private void recompress(Victims victims, Compaction compaction, Recompression recompression) throws IOException {
        try {
            collect(victims::nextToRecompress, compaction, true, recompression.isUnwanted());
        } catch (NoSpaceException e) {
            // What was collected before stays collected.
            log.info("there is no room to compress more containers anew: {}", e.getMessage());
        }
    }

    /** Chooses the containers of a batch. */
    @FunctionalInterface
    private interface Choice {
        List<ContainerEntry> next(long from, int count) throws IOException;
    }

    private void collect(Choice choice, Compaction compaction, boolean ifSmaller, BooleanSupplier isUnwanted)
            throws IOException {
        List<ContainerEntry> batch = choice.next(0, BATCH);
        while (!batch.isEmpty() && goesOn() && !isUnwanted.getAsBoolean()) {
            long next = batch.get(batch.size() - 1).container() + 1;
            List<ContainerEntry> rest = batch;
            while (!rest.isEmpty() && goesOn() && !isUnwanted.getAsBoolean()) {
                rest = collect(new Batch(rest, compaction, ifSmaller, isUnwanted));
            }
            batch = choice.next(next, BATCH);
        }
    }

    /** Collects a batch once there are no pins; see {@link Batch#collect}. */
    private List<ContainerEntry> collect(Batch batch) throws IOException {
        while (!parts.pins().tryBegin()) {
            if (!goesOn()) {
                return List.of();
            }
            Pace.pause(PAUSE_MS);
        }
        try {
            return batch.collect();
        } finally {
            parts.pins().end();
        }
    }

    /**
     * Gives back the old places of which the new ones are committed: those of this batch, and of a collection whose
     * last commit found no space and was made up for later.
     *
     * @return bytes given back
     */
    private long giveBack(Compaction compaction) throws IOException {
        parts.uses().await();
        long bytes = compaction.giveBackOldPlaces();
        givenBackBytes += bytes;
        return bytes;
    }

    private CollectionReport report(Victims victims, long leftBytes) {
        return new CollectionReport(
                victims.containers(),
                victims.storedBytes(),
                victims.garbageBytes(),
                victims.chosen(),
                victims.chosenBytes(),
                victims.recompressChosen(),
                victims.recompressBytes(),
                removed,
                rewritten,
                recompressed,
                incompressible,
                copiedBytes,
                savedBytes,
                givenBackBytes - copiedBytes,
                strayBytes,
                kept,
                leftBytes);
    }

    private boolean goesOn() {
        if (!stopped && !progress.collected(doneBytes, chosenBytes, givenBackBytes - copiedBytes)) {
            stopped = true;
        }
        return !stopped;
    }

    private Importance importance() {
        return pace.isWaitedFor() ? Importance.STEP : Importance.BACKGROUND;
    }

    private void awaitPace(long bytes) throws InterruptedIOException {
        // Who wants a pin must not wait for a slow or paused collection.
        pace.await(bytes, () -> goesOn() && !parts.pins().exist());
    }

    /** Some containers that are collected together. */
    private final class Batch implements Compaction.Results {
        private final List<ContainerEntry> containers;
        private final Compaction compaction;
        /** Whether a container with a live chunk is only written anew if it gets smaller. */
        private final boolean ifSmaller;
        /** Whether to leave the rest of the containers as they are. */
        private final BooleanSupplier isUnwanted;
        /** Containers whose garbage is tombstoned, durably, and that are not done. */
        private final Map<Long, ContainerEntry> tombstoned = new LinkedHashMap<>();

        Batch(List<ContainerEntry> containers, Compaction compaction, boolean ifSmaller, BooleanSupplier isUnwanted) {
            this.containers = containers;
            this.compaction = compaction;
            this.ifSmaller = ifSmaller;
            this.isUnwanted = isUnwanted;
        }

        /**
         * Collects as many of the containers as there is room for, and as nobody wants a pin or a stop.
         *
         * @return the others: they can be collected once the pin is gone, or now that a container gave its space back
         * @throws NoSpaceException if there was no room for any
         */
        List<ContainerEntry> collect() throws IOException {
            tombstone();
            // In the order of the disk.
            List<ContainerEntry> ordered = new ArrayList<>(tombstoned.values());
            ordered.sort(Comparator.<ContainerEntry>comparingLong(
                            entry -> entry.stored().pack())
                    .thenComparingLong(entry -> entry.stored().offset()));
            @Nullable IOException failure = null;
            try {
                for (ContainerEntry entry : ordered) {
                    awaitPace(entry.stored().bytes());
                    if (!goesOn() || parts.pins().exist() || isUnwanted.getAsBoolean()) {
                        break;
                    }
                    handle(entry);
                }
                compaction.writeLoaded(this);
            } catch (IOException e) {
                failure = e;
                compaction.dropLoaded();
            }
            // Also after a failure: containers without a live chunk need no space, and give some back.
            long givenBack = finish(failure);
            if (failure instanceof NoSpaceException && !givesPlacesBack) {
                givenBack += sweep(compaction);
            }
            if (failure == null || failure instanceof NoSpaceException && givenBack > 0) {
                return List.copyOf(tombstoned.values());
            }
            throw failure;
        }

        private void done(long container) {
            ContainerEntry entry = tombstoned.remove(container);
            doneBytes += entry == null ? 0 : entry.stored().bytes();
        }

        private void tombstone() throws IOException {
            try {
                List<ContainerEntry> condemned = new ArrayList<>(containers.size());
                for (ContainerEntry entry : containers) {
                    if (canBeCounted(
                            entry,
                            () -> counts.condemn(
                                    entry.container(), entry.stored().slots()))) {
                        condemned.add(entry);
                    }
                }
                parts.uses().await();
                for (ContainerEntry entry : condemned) {
                    if (canBeCounted(entry, () -> tombstone(entry.container()))) {
                        tombstoned.put(entry.container(), entry);
                    }
                }
            } finally {
                for (ContainerEntry entry : containers) {
                    counts.pardon(entry.container());
                }
            }
            parts.commits().commit();
            // From now on no recipe can refer to a tombstone. Readers find it missing with the next commit.
            parts.uses().await();
        }

        private void tombstone(long container) throws IOException {
            parts.commits().changes().lock();
            try {
                counts.tombstoneCondemned(container);
            } finally {
                parts.commits().changes().unlock();
            }
        }

        /** Does something with the counts of a container; keeps it, and returns false, if they cannot be read. */
        private boolean canBeCounted(ContainerEntry entry, Closing.Step step) throws IOException {
            try {
                step.run();
                return true;
            } catch (IOException e) {
                NoAnswer.rethrow(e);
                keep(entry.container(), e);
                return false;
            }
        }

        private void handle(ContainerEntry entry) throws IOException {
            long container = entry.container();
            boolean mayStay =
                    givesPlacesBack && !leaving.contains(entry.stored().pack());
            if (mayStay && !ifSmaller && hasNothingDead(entry)) {
                // All that was garbage has references again, or is kept: writing it anew would give nothing back. Where
                // only whole packs come back, it has to leave its pack nevertheless.
                done(container);
                return;
            }
            BitSet alive = counts.alive(container);
            if (alive.isEmpty()) {
                forgetInIndex(container, directory(container), alive);
                compaction.remove(container);
                removed++;
                done(container);
                return;
            }
            compaction.makeReady(this);
            forgetInIndex(container, load(entry, alive), alive);
        }

        private boolean hasNothingDead(ContainerEntry entry) throws IOException {
            StoredCopies alive = StoredCopies.of(counts.ofContainer(entry.container()));
            return alive.bytes() >= entry.stored().rawBytes();
        }

        /** Returns the directory of a container; null if it cannot be read. */
        private @Nullable SealedContainer load(ContainerEntry entry, BitSet alive) throws IOException {
            try (DiskQueue.Turn turn = parts.disk().enter(importance())) {
                long start = System.nanoTime();
                SealedContainer directory =
                        compaction.load(entry.container(), alive, counts.damaged(entry.container()), ifSmaller);
                turn.requested(
                        entry.stored().pack(),
                        entry.stored().offset(),
                        (int) entry.stored().bytes(),
                        System.nanoTime() - start);
                return directory;
            } catch (InterruptedIOException | NoSpaceException e) {
                throw e;
            } catch (IOException e) {
                parts.damage().suspected(entry.container());
                keep(entry.container(), e);
                return null;
            }
        }

        /**
         * Returns the directory of a container of which nothing remains; null if it cannot be read or is not needed.
         */
        private @Nullable SealedContainer directory(long container) {
            if (!parts.index().keepsAnything()) {
                return null;
            }
            try (DiskQueue.Turn turn = parts.disk().enter(importance())) {
                return parts.containers().directory(container);
            } catch (IOException e) {
                log.debug("index entries of container {} stay; they lead to nothing", container, e);
                return null;
            }
        }

        @Override
        public void copied(long container, long bytes, long saved) {
            copiedBytes += bytes;
            savedBytes += saved;
            if (ifSmaller) {
                recompressed++;
            } else {
                rewritten++;
            }
            done(container);
        }

        @Override
        public void incompressible(long container) {
            incompressible++;
            done(container);
        }

        /** Marks the chunks, so that the next collection copies the frame as it is if it finds the same damage. */
        @Override
        public void damaged(long container, int firstSlot, int slots, IOException why) {
            try {
                parts.damage().found(container, firstSlot, firstSlot + slots, How.COLLECTION, why);
            } catch (IOException e) {
                log.debug("the damage of container {} is not noted", container, e);
            }
            keep(container, why);
        }

        /** Leaves a container in its place, with its garbage: the rest of the volume must not wait for a bad sector. */
        private void keep(long container, IOException why) {
            kept++;
            done(container);
            log.warn("container {} stays as it is, with its garbage: {}", container, why.getMessage());
        }

        /** Removes the index entries of chunks that are gone: they would stay for ever if nobody stored these again. */
        private void forgetInIndex(long container, @Nullable SealedContainer directory, BitSet alive) {
            if (directory == null || !parts.index().keepsAnything()) {
                return;
            }
            try {
                BitSet dead = new BitSet(directory.slots());
                for (int slot = alive.nextClearBit(0); slot < directory.slots(); slot = alive.nextClearBit(slot + 1)) {
                    dead.set(slot, directory.length(slot) > 0);
                }
                parts.index().remove(container, directory.fingerprints(), dead);
                if (alive.isEmpty()) {
                    parts.index().uncover(container);
                }
            } catch (IOException e) {
                log.debug("index entries of container {} stay; they lead to nothing", container, e);
            }
        }

        /** @return bytes given back */
        private long finish(@Nullable IOException failure) throws IOException {
            try {
                compaction.force();
                parts.commits().commit();
                long givenBack = giveBack(compaction);
                goesOn();
                return givenBack;
            } catch (IOException e) {
                if (failure != null) {
                    failure.addSuppressed(e);
                    throw failure;
                }
                throw e;
            }
        }
    }
}
