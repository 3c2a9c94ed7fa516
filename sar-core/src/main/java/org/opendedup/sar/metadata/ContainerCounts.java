package org.opendedup.sar.metadata;

import org.opendedup.sar.common.Writing;

/** The reference counts of one container's slots. Slots from {@link #slots()} on were never referenced. */
public interface ContainerCounts {
    int slots();

    /** The container whose slots these are; {@link Writing#UNKNOWN} if that was never said. */
    Writing writing();

    /** Whether that copy exists: it was referenced at some time, and not tombstoned since. Its count may be 0. */
    boolean isAlive(int slot);

    boolean isTombstone(int slot);

    /** Whether that copy could not be read, or was wrong. */
    boolean isDamaged(int slot);

    /** References to that copy; 0 if it does not exist. */
    int count(int slot);
}
