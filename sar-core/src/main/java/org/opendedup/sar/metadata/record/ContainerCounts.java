package org.opendedup.sar.metadata.record;

import java.util.BitSet;

/** The reference counts of one container's slots. Slots from {@link #slots()} on were never referenced. */
public interface ContainerCounts {
    int slots();

    /**
     * Returns whether that copy exists: it was referenced at some time and not tombstoned since. Its count may be 0.
     */
    boolean isAlive(int slot);

    /** Returns the copies that exist. */
    BitSet alive();

    boolean isTombstone(int slot);

    /** Returns whether that copy could not be read, or had wrong bytes. */
    boolean isDamaged(int slot);

    /** Returns whether that copy exists and no recipe refers to it. */
    default boolean isGarbage(int slot) {
        return isAlive(slot) && count(slot) == 0;
    }

    /** Returns whether a recipe refers to that copy and it is known to be damaged: a file has lost these bytes. */
    default boolean isLost(int slot) {
        return count(slot) > 0 && isDamaged(slot);
    }

    /** Returns the chunk's length in bytes before compression; 0 if it was never recorded. */
    int length(int slot);

    /** Returns the number of references to that copy; 0 if it does not exist. */
    int count(int slot);

    /**
     * Returns how many of these references do not begin with the chunk's first byte: the rest of a chunk after a page
     * border, or the part that remained where a file was overwritten, punched or copied from.
     */
    int continuations(int slot);

    /**
     * Returns how often the chunk occurs in files: the number of references that begin with its first byte. A copy that
     * is referenced occurs at least once, even if files contain only other parts of it.
     */
    default int occurrences(int slot) {
        int count = count(slot);
        return count == 0 ? 0 : Math.max(1, count - continuations(slot));
    }
}
