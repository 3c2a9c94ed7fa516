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

    /** Returns the progress and the result as JSON. */
    Map<String, Object> report();
}
