package org.opendedup.sar.container;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Where frame tables are kept besides the containers themselves. */
public interface FrameTableSource {
    /** The bytes that {@link SealListener} was given for a container, or null to have them read from the container's file. */
    byte @Nullable [] frameTable(long container) throws IOException;
}
