package org.opendedup.sar.sim.trace;

import java.io.IOException;
import java.nio.file.Path;

/** Thrown if a trace does not have its format. The message names file and line. */
public final class TraceFormatException extends IOException {
    private static final long serialVersionUID = 1;

    /** @param file its name */
    public TraceFormatException(Object file, long line, String problem) {
        super(file + ", line " + line + ": " + problem);
    }

    TraceFormatException(Path file, long line, String problem, Throwable cause) {
        super(file + ", line " + line + ": " + problem, cause);
    }
}
