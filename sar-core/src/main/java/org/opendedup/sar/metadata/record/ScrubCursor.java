package org.opendedup.sar.metadata.record;

/**
 * Where a scrub goes on.
 *
 * @param phase what it verifies there; earlier phases are complete
 * @param file number of the pack, or of the SSD's segment file; 0 in a phase that begins again
 * @param offset byte in it
 */
public record ScrubCursor(ScrubPhase phase, long file, long offset) {
    /** Before everything. */
    public static final ScrubCursor BEGIN = beginOf(ScrubPhase.CONTAINERS);

    /** Returns the beginning of a phase. */
    public static ScrubCursor beginOf(ScrubPhase phase) {
        return new ScrubCursor(phase, 0, 0);
    }
}
