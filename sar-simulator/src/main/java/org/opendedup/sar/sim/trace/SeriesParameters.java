package org.opendedup.sar.sim.trace;

/**
 * Parameters of a {@link DriftingSeries}. Shares are 0 to 1.
 *
 * @param versions number of versions; 1 or more
 * @param chunks chunks of the first version; 1 or more
 * @param runChunks mean number of chunks of a run: all changes, additions and removals are in runs; 1 or more
 * @param changed share of the runs that a version replaces by new ones
 * @param added share of the runs after which it adds a new run
 * @param removed share of the runs that it leaves out
 * @param duplicates share of the new runs that repeat chunks which are in the series already
 * @param seed selects another series with the same parameters
 */
public record SeriesParameters(
        int versions,
        int chunks,
        int runChunks,
        double changed,
        double added,
        double removed,
        double duplicates,
        long seed) {
    public SeriesParameters {
        atLeastOne("versions", versions);
        atLeastOne("chunks", chunks);
        atLeastOne("run", runChunks);
        share("changed", changed);
        share("added", added);
        share("removed", removed);
        share("duplicates", duplicates);
        if (changed + removed > 1) {
            throw new IllegalArgumentException("changed and removed are 1 at most together");
        }
    }

    private static void atLeastOne(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " is 1 or more, not " + value);
        }
    }

    private static void share(String name, double value) {
        if (!(value >= 0 && value <= 1)) {
            throw new IllegalArgumentException(name + " is a share, 0 to 1, not " + value);
        }
    }
}
