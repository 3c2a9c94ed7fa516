package org.opendedup.sar.check;

import java.io.InterruptedIOException;

/** Receives the progress of a check. */
@FunctionalInterface
public interface CheckProgress {
    /** Name of the step that reads the directory of one container for each unit. */
    String REFERENCES = "references to containers";

    /**
     * @param step what is being done, as a noun for people
     * @param done units of the step that are done
     * @param of all units of the step; 0 if unknown
     * @throws InterruptedIOException to stop the check
     */
    void at(String step, long done, long of) throws InterruptedIOException;
}
