package org.opendedup.sar.sim.estimate;

import java.util.SplittableRandom;

/**
 * Selects the parts of the data that are read, if not all: extents of {@value #EXTENT_BYTES} bytes, and whole smaller
 * files, each at random.
 *
 * @param share share of the data, above 0, to 1
 * @param seed selects one of the possible samples
 */
record ExtentSample(double share, long seed) {
    /**
     * Length of an extent in bytes: long enough that a disk streams, and that few chunks differ because of the extent's
     * ends.
     */
    static final long EXTENT_BYTES = 16 << 20;

    boolean isWhole() {
        return share >= 1;
    }

    /**
     * Returns whether a part of a file is read.
     *
     * @param path number of the path that the file is below: files with the same name below two paths are drawn
     *     independently
     * @param name name of the file below that path, so that the same data gives the same sample in any location
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
