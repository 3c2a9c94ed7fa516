package org.opendedup.sar.common;

/**
 * Which writing of a container: what tells its file from every other that ever bore the same id.
 *
 * @param salt random, for each container that is made; 0 where it is not known
 * @param generation 1, and one more for each rewriting under the same id; 0 where it is not known
 */
public record Writing(long salt, int generation) {
    public static final Writing UNKNOWN = new Writing(0, 0);

    @Override
    public String toString() {
        return "salt " + Long.toHexString(salt) + ", generation " + generation;
    }
}
