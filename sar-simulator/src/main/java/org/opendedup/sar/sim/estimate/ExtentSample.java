package org.opendedup.sar.sim.estimate;

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

    /**
     * Whether a part of a file is read.
     *
     * @param path number of the path that the file is below: files of one name below two paths are drawn each by its own chance
     * @param name of the file below that path, so that the same data gives the same sample wherever it lies
     * @param extent number of the part
     */
    boolean takes(int path, String name, long extent) {
        long hash = path;
        for (int i = 0; i < name.length(); i++) {
            hash = hash * 31 + name.charAt(i);
        }
        return isWhole() || new SplittableRandom(hash ^ extent << 40 ^ seed).nextDouble() < share;
    }
}
