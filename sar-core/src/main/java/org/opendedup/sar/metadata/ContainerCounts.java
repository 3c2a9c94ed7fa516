package org.opendedup.sar.metadata;

/** The reference counts of one container's slots. Slots from {@link #slots()} on were never referenced. */
public interface ContainerCounts {
    int slots();

    /** Whether that copy exists: it was referenced at some time, and not tombstoned since. Its count may be 0. */
    boolean isAlive(int slot);

    boolean isTombstone(int slot);

    /** References to that copy; 0 if it does not exist. */
    int count(int slot);
}
