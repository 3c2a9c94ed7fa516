package org.opendedup.sar.cluster;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Thrown if no volume that is there has the right bytes of a block. Says which volumes are away. */
public final class UnreadableBlockException extends IOException {
    private static final long serialVersionUID = 1;

    UnreadableBlockException(String message, @Nullable IOException cause) {
        super(message, cause);
    }
}
