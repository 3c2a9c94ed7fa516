package org.opendedup.sar.sim.estimate;

import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * Which parts of the data are read, if not all: extents of {@value #EXTENT_BYTES} bytes, and whole files that are smaller, each by chance.
 *
 * @param share of the data, above 0, to 1
 * @param seed which of the samples
 */
record ExtentSample(double share, long seed) {
    /** Long enough that a disk streams, and that what is cut otherwise at its ends is little. */
    static final long EXTENT_BYTES = 16 << 20;

    boolean isWhole() {
        return share >= 1;
    }

    /** Whether a file's extent of this number is read. */
    boolean takes(Path file, long extent) {
        long name = 0;
        String path = file.toString();
        for (int i = 0; i < path.length(); i++) {
            name = name * 31 + path.charAt(i);
        }
        return isWhole() || new SplittableRandom(name ^ extent << 40 ^ seed).nextDouble() < share;
    }
}
