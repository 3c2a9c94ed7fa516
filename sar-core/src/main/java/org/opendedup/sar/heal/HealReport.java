package org.opendedup.sar.heal;

import java.util.ArrayList;
import java.util.List;

/**
 * What a pass healed, and what it did not.
 *
 * @param containers containers with damaged chunks that were examined
 * @param healedContainers containers of which chunks were healed or found sound
 * @param fromFrame chunks healed from the readable part of their own damaged frames
 * @param fromSsd chunks healed from their copies on the SSD
 * @param fromCopies chunks healed from other stored copies of the same content
 * @param sound chunks that were known as damaged and have the right bytes; nothing was written for them
 * @param unhealed the chunks that stay damaged, with the reason
 * @param unhealedChunks number of these chunks, also of those that {@code unhealed} has no room for
 */
public record HealReport(
        long containers,
        long healedContainers,
        long fromFrame,
        long fromSsd,
        long fromCopies,
        long sound,
        List<Unhealed> unhealed,
        long unhealedChunks) {
    /** Most entries of {@link #unhealed}. */
    public static final int MAX_UNHEALED = 10_000;

    /** The report of a pass that found nothing damaged. */
    public static final HealReport NONE = new HealReport(0, 0, 0, 0, 0, 0, List.of(), 0);

    /**
     * Chunks that stay damaged.
     *
     * @param firstSlot first slot of their frame, or of all of them
     * @param chunks how many there are
     * @param reason why; a sentence without a full stop
     */
    public record Unhealed(long container, int firstSlot, int chunks, String reason) {}

    public HealReport {
        unhealed = List.copyOf(unhealed);
    }

    /** Returns the number of chunks that are whole again. */
    public long healedChunks() {
        return fromFrame + fromSsd + fromCopies + sound;
    }

    /** Adds what another report counts, without what it could not heal. */
    HealReport plus(HealReport more) {
        return new HealReport(
                containers + more.containers,
                healedContainers + more.healedContainers,
                fromFrame + more.fromFrame,
                fromSsd + more.fromSsd,
                fromCopies + more.fromCopies,
                sound + more.sound,
                unhealed,
                unhealedChunks);
    }

    HealReport plusExamined() {
        return new HealReport(
                containers + 1, healedContainers, fromFrame, fromSsd, fromCopies, sound, unhealed, unhealedChunks);
    }

    HealReport plusHealed(long ofFrame, long ofSsd, long ofCopies, long soundOnes) {
        return new HealReport(
                containers,
                healedContainers + 1,
                fromFrame + ofFrame,
                fromSsd + ofSsd,
                fromCopies + ofCopies,
                sound + soundOnes,
                unhealed,
                unhealedChunks);
    }

    HealReport plusUnhealed(Unhealed more) {
        List<Unhealed> all = unhealed;
        if (unhealed.size() < MAX_UNHEALED) {
            all = new ArrayList<>(unhealed);
            all.add(more);
        }
        return new HealReport(
                containers,
                healedContainers,
                fromFrame,
                fromSsd,
                fromCopies,
                sound,
                all,
                unhealedChunks + more.chunks());
    }
}
