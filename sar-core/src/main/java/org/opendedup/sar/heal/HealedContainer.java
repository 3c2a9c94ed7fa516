package org.opendedup.sar.heal;

import java.io.IOException;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.Compaction;
import org.opendedup.sar.container.Replacements;
import org.opendedup.sar.container.Verification;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.counts.FormerPlaces;
import org.opendedup.sar.metadata.record.DamageNote.How;

/**
 * Brings a healed container to its new place. The old one is recorded as a {@link FormerPlaces former place} in the
 * commit of the move, and given back only when everything was read in the new one. For one thread.
 */
final class HealedContainer {
    private final HealParts parts;
    private final HealMarks marks;
    private final Compaction compaction;
    private final long container;
    private final FormerPlaces former;
    private @Nullable StoredContainer old;
    /** Former places from before this move. */
    private List<StoredContainer> older = List.of();

    HealedContainer(HealParts parts, HealMarks marks, Compaction compaction, long container) {
        this.parts = parts;
        this.marks = marks;
        this.compaction = compaction;
        this.container = container;
        former = parts.metadata().damage().former();
    }

    /** Writes the next generation of the container that was examined last; {@code results} hears whether it could. */
    void copy(BitSet kept, BitSet damaged, Replacements replacements, Compaction.Results results) throws IOException {
        try {
            old = compaction.heal(kept, damaged, replacements);
            compaction.writeLoaded(results);
        } catch (IOException e) {
            compaction.dropLoaded();
            throw e;
        }
    }

    /** Makes the copy durable, and commits the move. */
    void commit() throws IOException {
        older = former.of(container);
        parts.commits().changes().lock();
        try {
            former.add(container, Objects.requireNonNull(old));
        } finally {
            parts.commits().changes().unlock();
        }
        compaction.force();
        parts.commits().commit();
    }

    /**
     * Reads the container in its new place, from the disk. Takes from {@code right} what is not right there, and adds
     * it to {@code unhealed}.
     *
     * @param copied slots of frames that were copied although they are damaged
     * @return whether everything else is right
     */
    boolean verify(List<BitSet> right, BitSet copied, List<HealReport.Unhealed> unhealed) throws IOException {
        Verification verification = parts.containers().verification();
        Verification.Verified verified;
        try (GracePeriod.Use use = parts.uses().begin();
                DiskQueue.Turn turn = parts.disk().enter(Importance.BACKGROUND)) {
            verification.load(container);
            verified = verification.next();
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            wrong(0, Math.max(1, parts.metadata().counts().slots(container)), e, right, unhealed);
            return false;
        }
        boolean isRight = true;
        for (var frame : verified.damagedFrames().entrySet()) {
            int first = verified.firstSlot(frame.getKey());
            if (!copied.get(first)) {
                wrong(first, first + verified.slotCount(frame.getKey()), frame.getValue(), right, unhealed);
                isRight = false;
            }
        }
        return isRight;
    }

    private void wrong(int first, int end, IOException why, List<BitSet> right, List<HealReport.Unhealed> unhealed)
            throws IOException {
        String reason = "it is not right in its new place either: " + why.getMessage();
        int chunks = parts.metadata().counts().alive(container).get(first, end).cardinality();
        unhealed.add(new HealReport.Unhealed(container, first, chunks, reason));
        right.forEach(slots -> slots.clear(first, end));
        marks.found(container, first, end, How.HEAL, why);
    }

    /**
     * Gives back the places that are of no use any more; to be called when the marks of what is healed are taken back.
     *
     * @param isOldOfUse whether the old place may have bytes that the new one does not have
     * @param lost chunks that the new place does not have
     */
    void giveBack(boolean isOldOfUse, BitSet lost) throws IOException {
        StoredContainer place = Objects.requireNonNull(old);
        BitSet damaged = parts.metadata().counts().damaged(container);
        damaged.or(lost);
        damaged.and(parts.metadata().counts().alive(container));
        if (!damaged.isEmpty() && isOldOfUse) {
            return;
        }
        parts.commits().changes().lock();
        try {
            former.remove(container, place);
        } finally {
            parts.commits().changes().unlock();
        }
        parts.commits().commit();
        parts.uses().await();
        compaction.giveBack(place);
        if (damaged.isEmpty()) {
            for (StoredContainer each : older) {
                compaction.giveBack(each);
            }
        }
    }
}
