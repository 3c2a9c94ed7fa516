package org.opendedup.sar.crash;

import java.io.IOException;
import org.opendedup.sar.model.FileSystem;

/** A file system that loses power once. */
public interface CrashableVolume {
    /** Makes one that is empty. */
    FileSystem start() throws IOException;

    /** The power is to go after so many more calls of the stores; when that is, is the volume's business. */
    void cutPowerAfter(long steps);

    boolean isPowerOff();

    /** Cuts the power if it is still on, lets the dead volume go, and opens what is left. */
    FileSystem restart() throws IOException;

    /** Makes a new one. */
    @FunctionalInterface
    interface Maker {
        /** @param seed decides what of the bytes that were not forced survives */
        CrashableVolume make(long seed) throws IOException;
    }
}
