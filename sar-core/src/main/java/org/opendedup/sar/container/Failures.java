package org.opendedup.sar.container;

import java.io.IOException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.WriteFailedException;

/** Copies one failure for each of many callers, so that each gets its own stack trace. */
final class Failures {
    private Failures() {}

    /** Returns a new exception with its own stack trace and the first failure as its cause. */
    static NoSpaceException again(String what, NoSpaceException first) {
        NoSpaceException again = new NoSpaceException(what + ": " + first.getMessage());
        again.initCause(first);
        return again;
    }

    /** As above; keeps the exception types that callers distinguish. */
    static IOException again(String what, IOException first) {
        String message = what + ": " + first.getMessage();
        if (first instanceof NoSpaceException full) {
            return again(what, full);
        }
        return first instanceof WriteFailedException
                ? new WriteFailedException(message, first)
                : new IOException(message, first);
    }
}
