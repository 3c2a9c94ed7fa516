package org.opendedup.sar.common;

import java.io.InterruptedIOException;

/** Sees how far a long operation is, and may stop it. */
@FunctionalInterface
public interface Progress {
    /** Ignores it. */
    Progress NONE = (stage, done, of) -> {};

    /**
     * Called regularly.
     *
     * @param stage what is being done, as a noun for people
     * @param done units of the stage that are done
     * @param of all units of the stage, about; 0 if unknown
     * @throws InterruptedIOException to stop the operation; what is done stays done
     */
    void at(String stage, long done, long of) throws InterruptedIOException;
}
