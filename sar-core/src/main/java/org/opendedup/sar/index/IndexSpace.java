package org.opendedup.sar.index;

/** How many bytes the files of an index on an SSD may have; the bound may change while the index is in use. */
public interface IndexSpace {
    /** As many as the device has. */
    IndexSpace UNBOUNDED = () -> Long.MAX_VALUE;

    /** Returns a fixed bound, in bytes. */
    static IndexSpace of(long bytes) {
        return () -> bytes;
    }

    /** Returns the most bytes that they may have now. */
    long mostBytes();

    /** Told how many bytes they have, each time that changed. */
    default void used(long bytes) {}

    /** Returns how the SSD is shared. */
    default SsdShare share() {
        return SsdShare.NONE;
    }
}
