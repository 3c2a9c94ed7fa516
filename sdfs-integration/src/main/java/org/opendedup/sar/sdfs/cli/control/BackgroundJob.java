package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.util.Map;

/** A long operation. One thread calls {@code run} once; any thread may call the other methods. */
public interface BackgroundJob {
    /**
     * Runs the operation.
     *
     * @throws java.io.InterruptedIOException if it was stopped
     */
    void run() throws IOException;

    /** Makes the operation end soon, without harm. */
    void stop();

    /**
     * Called if the operation has not ended long after {@link #stop}, because something does not answer: gives back
     * what others wait for. The operation does nothing more when that answers.
     */
    default void abandon() {}

    /** Returns the progress and the result as JSON. */
    Map<String, Object> report();
}
