package org.opendedup.sar.metadata.repair;

import java.io.InterruptedIOException;

/** Receives the progress of a salvage. */
@FunctionalInterface
public interface SalvageProgress {
    /** Ignores it. */
    SalvageProgress NONE = (step, done, of) -> {};

    /**
     * @param step what is being done, as a noun for people
     * @param done units of the step that are done
     * @param of all units of the step, about; 0 if unknown
     * @throws InterruptedIOException to stop the salvage, which then has changed nothing
     */
    void at(String step, long done, long of) throws InterruptedIOException;
}
