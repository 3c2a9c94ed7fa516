package org.opendedup.sar.tier;

import java.io.IOException;
import org.opendedup.sar.container.FrameTable;

/** Tells where a container's frames lie. */
@FunctionalInterface
public interface FrameTables {
    FrameTable of(long container) throws IOException;
}
