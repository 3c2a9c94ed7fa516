package org.opendedup.sar.sim.block;

import java.io.IOException;

/** Thrown if a trace does not have the expected format; the message names file and line. */
public final class TraceFormatException extends IOException {
    private static final long serialVersionUID = 1;

    TraceFormatException(String file, long line, String what) {
        super(file + ", line " + line + ": " + what);
    }
}
