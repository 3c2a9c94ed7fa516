package org.opendedup.sar.sim.sar;

import java.io.Closeable;
import java.io.IOException;
import org.opendedup.sar.sim.block.BlockRequest;

/** A way to store blocks: decides which transfers a request costs. Has no notion of time. For one thread. */
interface StorageSystem extends Closeable {
    /** Serves a request: changes the stored data, and reports to the sink what the devices must do for it. */
    void serve(BlockRequest request, TransferSink sink) throws IOException;

    /** Returns the heap bytes that the system needs in addition to those of a system without SSD. */
    default long memoryBytes() {
        return 0;
    }

    /** Returns whether it has an SSD. */
    default boolean hasSsd() {
        return false;
    }

    @Override
    default void close() {}
}
