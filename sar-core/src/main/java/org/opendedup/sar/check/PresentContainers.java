package org.opendedup.sar.check;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.StoredContainer;

/**
 * Where containers lie now, while the check of a volume in use looks at its metadata as they were at a moment before.
 */
@FunctionalInterface
public interface PresentContainers {
    /** Returns the present entry of a container; null if it has none any more. */
    @Nullable
    StoredContainer of(long container) throws IOException;
}
