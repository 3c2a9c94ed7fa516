package org.opendedup.sar.sim.restore;

import java.util.Arrays;

/** The chunk ids of one version, in order: 8 bytes a reference. */
public final class Recipe {
    private final int version;
    private final int containersBefore;
    private long[] chunkIds = new long[1 << 10];
    private int count;

    /** @param containersBefore number of containers that earlier versions filled: ids 1 to this */
    Recipe(int version, int containersBefore) {
        this.version = version;
        this.containersBefore = containersBefore;
    }

    void add(long chunkId) {
        if (count == chunkIds.length) {
            chunkIds = Arrays.copyOf(chunkIds, count * 2);
        }
        chunkIds[count++] = chunkId;
    }

    int version() {
        return version;
    }

    /** Returns the number of containers that earlier versions filled; those with greater ids have newer chunks. */
    int containersBefore() {
        return containersBefore;
    }

    /** Returns the number of references in the recipe. */
    public int count() {
        return count;
    }

    long chunkId(int reference) {
        return chunkIds[reference];
    }
}
