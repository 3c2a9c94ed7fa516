package org.opendedup.sar.tier;

import java.io.Closeable;

/**
 * Takes chunks off the SSD (SAR paper §3.5): what no longer qualifies after the settings changed, what is worth least when space
 * is needed, and what nothing refers to any more. Only Map table entries go; the log reclaims their bytes later. Safe for use by
 * many threads.
 */
public final class DataDemotion implements Closeable {

    /** Called by the log's writing thread when more is live than it may: demotes the entries of lowest rank. */
    public void makeRoom() {
        throw new UnsupportedOperationException();
    }

    /** Settings changed: demotes in the background what no longer qualifies. */
    public void apply(TierSettings settings) {
        throw new UnsupportedOperationException();
    }

    /** The count of a chunk fell to zero. Called with locks of the metadata held: never waits. */
    public void unreferenced(long chunkId) {
        throw new UnsupportedOperationException();
    }

    /** Demotes everything of that many references or fewer, in the background; returns at once. */
    public void demoteUpTo(int references) {
        throw new UnsupportedOperationException();
    }

    public DemotionStatistics statistics() {
        throw new UnsupportedOperationException();
    }

    /** Stops the background work. Idempotent. */
    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
