package org.opendedup.sar.container;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A store of frame tables outside the containers. */
public interface FrameTableSource {
    /**
     * Returns the bytes that {@link SealListener} got for a container, or null to have them read from the container's
     * file.
     */
    byte @Nullable [] frameTable(long container) throws IOException;
}
