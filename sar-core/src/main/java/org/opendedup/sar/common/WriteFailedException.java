package org.opendedup.sar.common;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A disk of the volume refused a write, for another reason than lack of space. The data are still in memory and may be
 * written when the disk works again.
 */
public final class WriteFailedException extends IOException {
    private static final long serialVersionUID = 1;

    public WriteFailedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
