package org.opendedup.sar.metadata.record;

/**
 * A data location that was added to a volume, as the database stores it.
 *
 * @param number what its {@code volume.id} calls it: random, never 0
 * @param path the folder where it was last
 */
public record DataLocation(long number, State state, String path) {
    /** What a location is for the volume. */
    public enum State {
        /** Packs lie in it, and new ones are made there. */
        USED,
        /** Its packs are moved to others, and no new ones are made there. */
        LEAVING,
        /** It has no pack any more. It may be gone. */
        LEFT
    }
}
