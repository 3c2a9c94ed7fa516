package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;

/** Something that takes long. Run once, by one thread; the others are for any. */
interface BackgroundJob {
    /**
     * Does it.
     *
     * @throws java.io.InterruptedIOException if it was stopped
     */
    void run() throws IOException;

    /** Has it end soon, such that nothing is harmed. */
    void stop();

    /** How far it is, and what came of it, as JSON. */
    Map<String, Object> report();
}
