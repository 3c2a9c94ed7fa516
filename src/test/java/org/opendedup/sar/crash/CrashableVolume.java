package org.opendedup.sar.crash;

import java.io.IOException;
import org.opendedup.sar.model.FileSystem;

/** A file system that loses power once. */
public interface CrashableVolume {
    /** Makes an empty one. */
    FileSystem start() throws IOException;

    /** Cuts the power after this number of further calls of the stores; the volume decides which calls count. */
    void cutPowerAfter(long steps);

    boolean isPowerOff();

    /** Cuts the power if it is still on, discards the dead volume, and opens the remaining state. */
    FileSystem restart() throws IOException;

    /** Makes a new one. */
    @FunctionalInterface
    interface Maker {
        /** @param seed decides which of the unforced bytes survive */
        CrashableVolume make(long seed) throws IOException;
    }
}
