package org.opendedup.sar.sim.tddfs.tier;

/**
 * Counts the bytes that migrate. Both ends count, because deduplication saves at one end only: a new file is read as a
 * whole from the fast tier, and only its new chunks are written to the slow one. For one thread.
 */
public final class Traffic {
    private long downRead;
    private long downWritten;
    private long upRead;
    private long upWritten;
    private long recipeBytes;

    /** Counts a migration to the slow tier: bytes read from the fast tier, and bytes written to the slow one. */
    public void down(long read, long written) {
        downRead += read;
        downWritten += written;
    }

    /** Counts a migration to the fast tier: bytes read from the slow tier, and bytes written to the fast one. */
    public void up(long read, long written) {
        upRead += read;
        upWritten += written;
    }

    /** Counts bytes of recipes that moved in either direction. */
    public void recipe(long bytes) {
        recipeBytes += bytes;
    }

    public void reset() {
        downRead = 0;
        downWritten = 0;
        upRead = 0;
        upWritten = 0;
        recipeBytes = 0;
    }

    public Totals totals() {
        return new Totals(downRead, downWritten, upRead, upWritten, recipeBytes);
    }

    /**
     * Bytes of all migrations.
     *
     * @param downRead bytes read from the fast tier for the slow one
     * @param downWritten bytes written to the slow tier
     * @param upRead bytes read from the slow tier for the fast one
     * @param upWritten bytes written to the fast tier
     * @param recipeBytes bytes of recipes that moved, not in the others
     */
    public record Totals(long downRead, long downWritten, long upRead, long upWritten, long recipeBytes) {
        /** Returns the bytes migrated to the slow tier: the mean of both ends. */
        public long downBytes() {
            return (downRead + downWritten) / 2;
        }

        /** Returns the bytes migrated to the fast tier: the mean of both ends. */
        public long upBytes() {
            return (upRead + upWritten) / 2;
        }
    }
}
