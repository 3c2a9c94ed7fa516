package org.opendedup.sar.common;

/**
 * Identifies one writing of a container: distinguishes its file from every other file that ever had the same id.
 *
 * @param salt random, chosen for each new container; 0 if unknown
 * @param generation 1 for the first writing, and 1 more for each rewriting under the same id; 0 if unknown
 */
public record Writing(long salt, int generation) {
    public static final Writing UNKNOWN = new Writing(0, 0);

    @Override
    public String toString() {
        return "salt " + Long.toHexString(salt) + ", generation " + generation;
    }
}
