package org.opendedup.sar.sim.sar;

import java.io.Closeable;
import java.io.IOException;
import org.opendedup.sar.sim.block.BlockRequest;

/** A way to store blocks: which transfers does a request cost? Knows no time. For one thread. */
interface StorageSystem extends Closeable {
    /** Serves a request: changes what is stored where, and tells the sink what the devices must do for it. */
    void serve(BlockRequest request, TransferSink sink) throws IOException;

    /** Heap bytes that such a system needs beside what one without SSD needs. */
    default long memoryBytes() {
        return 0;
    }

    /** Whether it has an SSD. */
    default boolean hasSsd() {
        return false;
    }

    @Override
    default void close() {}
}
