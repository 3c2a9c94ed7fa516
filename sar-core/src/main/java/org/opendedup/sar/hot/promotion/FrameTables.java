package org.opendedup.sar.hot.promotion;

import java.io.IOException;
import org.opendedup.sar.container.format.LocatedTable;

/** Provides the positions of a container's frames, and its place. */
@FunctionalInterface
public interface FrameTables {
    LocatedTable of(long container) throws IOException;
}
