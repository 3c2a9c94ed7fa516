package org.opendedup.sar.container;

import java.io.IOException;
import org.opendedup.sar.common.NoSpaceException;

/** Reports one failure to many callers. */
final class Failures {
    private Failures() {}

    /** A new exception of the kind the callers tell apart, with a stack of its own and the first one as its cause. */
    static IOException again(String what, IOException first) {
        String message = what + ": " + first.getMessage();
        IOException again =
                first instanceof NoSpaceException ? new NoSpaceException(message) : new IOException(message);
        again.initCause(first);
        return again;
    }
}
