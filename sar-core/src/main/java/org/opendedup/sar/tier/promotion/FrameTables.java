package org.opendedup.sar.tier.promotion;

import java.io.IOException;
import org.opendedup.sar.container.format.FrameTable;

/** Provides the positions of a container's frames. */
@FunctionalInterface
public interface FrameTables {
    FrameTable of(long container) throws IOException;
}
