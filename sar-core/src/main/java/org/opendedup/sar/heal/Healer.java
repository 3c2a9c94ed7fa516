package org.opendedup.sar.heal;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.container.Compaction;
import org.opendedup.sar.container.DamagedContainer;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.metadata.ReferenceCounts;

/**
 * Heals containers with damaged chunks while the volume is in use, one after another, each in this order:
 *
 * <ol>
 *   <li>examine the damaged frames, and find the bytes of their chunks elsewhere
 *   <li>write the container's next generation with these bytes, verified by fingerprints; force it
 *   <li>commit the new place
 *   <li>wait until no reader uses the old place, and give it back
 *   <li>verify what was healed in the new place, take the marks of damage back, and commit that
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
        /** Waits for the end of a running collection, and runs the part. */
        void take(Part part) throws IOException;
    }

    /** Takes the marks of chunks back that have the right bytes. */
    @FunctionalInterface
    public interface Marks {
        /**
         * Slots of a container are sound.
         *
         * @param written whether they were written anew; otherwise they were sound all the time
         */
        void sound(long container, BitSet slots, boolean written) throws IOException;
    }

    private final HealParts parts;
    private final ReferenceCounts counts;
    private final Marks marks;
    private final HealProgress progress;
    private final Sources sources;
    private HealReport report = HealReport.NONE;
    private boolean stopped;

    public Healer(HealParts parts, Marks marks, HealProgress progress) {
        this.parts = parts;
        this.marks = marks;
        this.progress = progress;
        counts = parts.metadata().counts();
        sources = new Sources(parts);
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
        Map<Long, List<HealReport.Unhealed>> unhealed = healAll(damaged, turns);
        unhealed.values().removeIf(List::isEmpty);
        if (all && !unhealed.isEmpty() && goesOn() && sources.search(this::goesOn)) {
            unhealed.putAll(healAll(Set.copyOf(unhealed.keySet()), turns));
        }
        unhealed.values().forEach(each -> each.forEach(one -> report = report.plusUnhealed(one)));
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
    }

    private boolean goesOn() {
        stopped = stopped || !progress.examined(report);
        return !stopped;
    }

    /** Returns the chunks of each container that stay damaged; an empty list for none. */
    private Map<Long, List<HealReport.Unhealed>> healAll(Set<Long> containers, Turns turns) throws IOException {
        Map<Long, List<HealReport.Unhealed>> unhealed = new HashMap<>();
        Deque<Long> rest = new ArrayDeque<>(new TreeSet<>(containers));
        while (!rest.isEmpty() && goesOn()) {
            turns.take(isWanted -> healSome(rest, unhealed, isWanted));
        }
        return unhealed;
    }

    private void healSome(Deque<Long> rest, Map<Long, List<HealReport.Unhealed>> unhealed, BooleanSupplier isWanted)
            throws IOException {
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
        Healing healing = new Healing(container, compaction);
        List<HealReport.Unhealed> left = healing.run();
        // Damage that was not known is marked now.
        return healing.foundMore ? new Healing(container, compaction).run() : left;
    }

    /** The healing of one container. */
    private final class Healing implements Compaction.Results {
        private final long container;
        private final Compaction compaction;
        private final List<HealReport.Unhealed> unhealed = new ArrayList<>();
        private final Map<Integer, byte[]> replacements = new HashMap<>();
        /** Damaged slots that are healed by the next generation. */
        private final BitSet healed = new BitSet();

        private long fromFrame;
        private long fromSsd;
        private long fromCopies;
        private boolean isCopied;
        private boolean foundMore;

        Healing(long container, Compaction compaction) {
            this.container = container;
            this.compaction = compaction;
        }

        List<HealReport.Unhealed> run() throws IOException {
            BitSet damaged = damagedSlots();
            if (damaged.isEmpty() && !hasLostDirectory()) {
                return List.of();
            }
            report = report.plusExamined();
            if (!parts.containers().isSealed(container)) {
                return stays(damaged, "the container is being written");
            }
            // Who stored a chunk in this container has its reference by now: no slot becomes alive any more.
            parts.uses().await();
            BitSet kept = counts.alive(container);
            if (kept.isEmpty()) {
                return List.of();
            }
            compaction.makeReady(this);
            DamagedContainer examined;
            try (DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
                examined = compaction.examine(container, damaged);
            } catch (InterruptedIOException | ClosedChannelException e) {
                throw e;
            } catch (IOException e) {
                return stays(damaged, "it cannot be read: " + e.getMessage());
            }
            if (examined.isMadeAnew() && markOthers(examined, kept, damaged)) {
                // They are read once more before their bytes are copied: one read may err.
                return unhealed;
            }
            BitSet sound = (BitSet) damaged.clone();
            sound.and(examined.sound());
            for (int frame : examined.damagedFrames()) {
                findFrame(examined, frame, kept, damaged);
            }
            withoutDirectoryEntry(examined, damaged);
            boolean isChanged = !healed.isEmpty() || examined.isMadeAnew();
            if (isChanged && (examined.isWhole() || unhealed.isEmpty())) {
                write(kept, damaged);
            } else {
                healed.clear();
            }
            if (isCopied || !examined.isMadeAnew()) {
                takeBack(sound, examined.isMadeAnew());
            }
            return unhealed;
        }

        private boolean hasLostDirectory() throws IOException {
            if (!parts.containers().isSealed(container)
                    || counts.alive(container).isEmpty()) {
                return false;
            }
            try (GracePeriod.Use use = parts.uses().begin();
                    DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
                return parts.containers().directory(container).container() != container;
            } catch (InterruptedIOException | ClosedChannelException e) {
                throw e;
            } catch (IOException e) {
                return true;
            }
        }

        /** Marks slots of frames that are damaged and were not known to be; returns whether there are any. */
        private boolean markOthers(DamagedContainer examined, BitSet kept, BitSet damaged) {
            for (int frame : examined.damagedFrames()) {
                BitSet others = new BitSet();
                others.set(examined.firstSlot(frame), examined.endSlot(frame));
                others.and(kept);
                others.andNot(damaged);
                if (!others.isEmpty()) {
                    int first = examined.firstSlot(frame);
                    damaged(container, first, examined.endSlot(frame) - first, new IOException("its frame is damaged"));
                }
            }
            return foundMore;
        }

        private BitSet damagedSlots() throws IOException {
            BitSet damaged = counts.damaged(container);
            damaged.and(counts.alive(container));
            return damaged;
        }

        private List<HealReport.Unhealed> stays(BitSet slots, String reason) {
            return List.of(
                    new HealReport.Unhealed(container, Math.max(0, slots.nextSetBit(0)), slots.cardinality(), reason));
        }

        /** Slots that no frame has: an earlier generation was made without them. */
        private void withoutDirectoryEntry(DamagedContainer examined, BitSet damaged) {
            BitSet gone = (BitSet) damaged.clone();
            gone.andNot(examined.sound());
            for (int frame : examined.damagedFrames()) {
                gone.clear(examined.firstSlot(frame), examined.endSlot(frame));
            }
            if (!gone.isEmpty()) {
                unhealed.addAll(stays(gone, "the container's directory does not have these chunks"));
            }
        }

        /** Finds all chunks of a damaged frame that files may refer to, or says which are missing. */
        private void findFrame(DamagedContainer examined, int frame, BitSet kept, BitSet damaged) throws IOException {
            Map<Integer, byte[]> salvaged = examined.salvaged(frame);
            BitSet unlisted = new BitSet();
            int missing = 0;
            long ofFrame = 0;
            long ofSsd = 0;
            long ofCopies = 0;
            for (int slot = kept.nextSetBit(examined.firstSlot(frame));
                    slot >= 0 && slot < examined.endSlot(frame);
                    slot = kept.nextSetBit(slot + 1)) {
                if (slot >= examined.directory().slots() || examined.directory().length(slot) == 0) {
                    unlisted.set(slot);
                    continue;
                }
                int counted = damaged.get(slot) ? 1 : 0;
                byte[] chunk = salvaged.get(slot);
                ofFrame += chunk == null ? 0 : counted;
                if (chunk == null) {
                    chunk = sources.fromSsd(examined.directory(), slot);
                    ofSsd += chunk == null ? 0 : counted;
                }
                if (chunk == null) {
                    chunk = sources.fromOtherCopy(examined.directory(), slot);
                    ofCopies += chunk == null ? 0 : counted;
                }
                if (chunk == null) {
                    missing++;
                    sources.want(examined.directory(), slot);
                } else {
                    replacements.put(slot, chunk);
                }
            }
            BitSet ofThis = damaged.get(examined.firstSlot(frame), examined.endSlot(frame));
            if (missing > 0) {
                unhealed.add(new HealReport.Unhealed(
                        container,
                        examined.firstSlot(frame),
                        ofThis.cardinality(),
                        missing + " chunks of frame " + frame + " were found nowhere else"));
                return;
            }
            if (!unlisted.isEmpty()) {
                unhealed.addAll(stays(unlisted, "the fingerprints of these chunks are lost with the directory"));
                return;
            }
            ofThis.stream().forEach(slot -> healed.set(examined.firstSlot(frame) + slot));
            fromFrame += ofFrame;
            fromSsd += ofSsd;
            fromCopies += ofCopies;
        }

        private void write(BitSet kept, BitSet damaged) throws IOException {
            try {
                compaction.heal(kept, damaged, replacements::get);
                compaction.writeLoaded(this);
            } catch (IOException e) {
                compaction.dropLoaded();
                throw e;
            }
            if (!isCopied) {
                healed.clear();
                return;
            }
            compaction.force();
            parts.commits().commit();
            parts.uses().await();
            compaction.giveBackOldPlaces();
            verify();
        }

        /** Leaves only those slots that can be read in the new place. */
        private void verify() throws IOException {
            FrameTable table = parts.containers().frameTable(container);
            int next = healed.nextSetBit(0);
            while (next >= 0) {
                int first = next;
                int frame = table.frameOf(first);
                int end = table.firstSlot(frame) + table.slotCount(frame);
                next = healed.nextSetBit(end);
                try (GracePeriod.Use use = parts.uses().begin();
                        DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
                    parts.containers().frame(container, frame, true);
                } catch (InterruptedIOException | ClosedChannelException e) {
                    throw e;
                } catch (IOException e) {
                    int chunks = healed.get(first, end).cardinality();
                    healed.clear(first, end);
                    unhealed.add(new HealReport.Unhealed(container, first, chunks, String.valueOf(e.getMessage())));
                }
            }
        }

        private void takeBack(BitSet sound, boolean isWritten) throws IOException {
            if (!sound.isEmpty()) {
                marks.sound(container, sound, isWritten);
            }
            if (!healed.isEmpty()) {
                marks.sound(container, healed, true);
            }
            if (!sound.isEmpty() || !healed.isEmpty() || isWritten) {
                report = report.plusHealed(
                        healed.isEmpty() ? 0 : fromFrame,
                        healed.isEmpty() ? 0 : fromSsd,
                        healed.isEmpty() ? 0 : fromCopies,
                        sound.cardinality());
                parts.commits().commit();
            }
        }

        @Override
        public void copied(long ofContainer, long bytes, long saved) {
            isCopied = true;
        }

        @Override
        public void incompressible(long ofContainer) {
            throw new AssertionError("container " + ofContainer + " is not to be compressed");
        }

        /** Another frame is damaged as well; the next pass knows it. */
        @Override
        public void damaged(long ofContainer, int firstSlot, int slots, IOException why) {
            foundMore = true;
            parts.commits().changes().lock();
            try {
                counts.markDamaged(ofContainer, firstSlot, firstSlot + slots);
                unhealed.add(new HealReport.Unhealed(
                        ofContainer, firstSlot, slots, "another frame is damaged as well; the next pass heals both"));
            } catch (IOException e) {
                unhealed.add(new HealReport.Unhealed(ofContainer, firstSlot, slots, String.valueOf(e.getMessage())));
            } finally {
                parts.commits().changes().unlock();
            }
        }
    }
}
