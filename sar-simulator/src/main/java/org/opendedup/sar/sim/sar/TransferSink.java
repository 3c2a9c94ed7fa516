package org.opendedup.sar.sim.sar;

/** Told what the devices must do for a request. */
interface TransferSink {
    /** Hears nothing. */
    TransferSink NONE = new TransferSink() {};

    /** The array of disks, before the request is done. */
    default void array(boolean isWrite, long offset, long bytes) {}

    /** The SSD, likewise; where on it makes no difference. */
    default void readSsd(long bytes) {}

    /** The SSD, after the request is done: nobody waits for it. */
    default void writeSsdLater(long bytes) {}
}
