package org.opendedup.sar.scrub;

import java.io.InterruptedIOException;

/** Receives how far a comparison with the containers is. */
@FunctionalInterface
public interface ComparisonProgress {
    /**
     * @param done units that are done
     * @param of all units, as far as is known
     * @throws InterruptedIOException to stop the comparison
     */
    void at(long done, long of) throws InterruptedIOException;
}
