package org.opendedup.sar.sim.block;

import java.io.Closeable;
import java.io.IOException;

/** A sequence of requests in the order of their times. For one thread. */
public interface BlockTrace extends Closeable {
    /**
     * Fills in the next request; returns false at the end.
     *
     * @throws IOException if the trace can't be read; names file and line
     */
    boolean next(BlockRequest into) throws IOException;

    @Override
    default void close() throws IOException {}
}
