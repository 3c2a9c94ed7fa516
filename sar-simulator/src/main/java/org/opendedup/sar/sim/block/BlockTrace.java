package org.opendedup.sar.sim.block;

import java.io.Closeable;
import java.io.IOException;

/** Requests in the order of their times. For one thread. */
public interface BlockTrace extends Closeable {
    /**
     * Fills in the next request; false at the end.
     *
     * @throws IOException if the trace can't be read, naming file and line
     */
    boolean next(BlockRequest into) throws IOException;

    @Override
    default void close() throws IOException {}
}
