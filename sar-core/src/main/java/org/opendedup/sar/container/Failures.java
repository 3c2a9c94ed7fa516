package org.opendedup.sar.container;

import java.io.IOException;
import org.opendedup.sar.common.NoSpaceException;

/** Reports one failure to many callers. */
final class Failures {
    private Failures() {}

    /** A new exception with a stack of its own and the first one as its cause. */
    static NoSpaceException again(String what, NoSpaceException first) {
        NoSpaceException again = new NoSpaceException(what + ": " + first.getMessage());
        again.initCause(first);
        return again;
    }

    /** As above, of the kind the callers tell apart. */
    static IOException again(String what, IOException first) {
        return first instanceof NoSpaceException full
                ? again(what, full)
                : new IOException(what + ": " + first.getMessage(), first);
    }
}
