package org.opendedup.sar.metadata.remote;

import java.io.IOException;
import org.opendedup.sar.common.CorruptionException;

/**
 * A log segment cannot be read, and it was there: it was removed, because a newer checkpoint has its changes, or it is
 * damaged.
 */
final class MissingSegmentException extends IOException {
    private static final long serialVersionUID = 1;

    MissingSegmentException(String name, String later) {
        super("the log segment " + name + " is missing, and " + later + " is there");
    }

    /** @param first name of the first segment that is missing at the end of the log */
    MissingSegmentException(String first, LogEnd noted) {
        super("the log segment " + first + " is missing, and the lease says that the log went up to number "
                + noted.number());
    }

    MissingSegmentException(CorruptionException damage) {
        super(damage.getMessage(), damage);
    }

    /** Returns whether the segment is damaged; else nothing shows that anything is wrong. */
    boolean isDamage() {
        return getCause() != null;
    }
}
