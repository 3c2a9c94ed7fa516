package org.opendedup.sar.sim.sar;

/** Receives what the devices must do for a request. */
interface TransferSink {
    /** Ignores all transfers. */
    TransferSink NONE = new TransferSink() {};

    /** Uses the array of disks, before the request is done. */
    default void array(boolean isWrite, long offset, long bytes) {}

    /** Reads the SSD, before the request is done; the place on it makes no difference. */
    default void readSsd(long bytes) {}

    /** Writes to the SSD after the request is done: the request does not wait for it. */
    default void writeSsdLater(long bytes) {}
}
