package org.opendedup.sar.tier;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * The SSD of a volume and everything SAR does with it: attached, taken away and brought back while the volume is in use. Safe for
 * use by many threads.
 */
public final class SsdTier implements Closeable {

    /** How the SSD does. */
    public enum State {
        /** The volume has no SSD location. */
        NONE,
        ONLINE,
        /** Copies are read; nothing is promoted, because the SSD takes no writes. */
        READ_ONLY,
        /** It answers too slowly, and is tried again from time to time. */
        SUSPENDED,
        /** It was taken away by an administrator, or was not there when the volume was mounted. */
        DETACHED,
        /** It failed too often. An administrator attaches it, or another one, again. */
        FAILED
    }

    /**
     * Something an administrator should know.
     *
     * @param message one sentence, with the place and what the volume does now
     */
    public record Event(State state, String message) {}

    /**
     * How the tier is now.
     *
     * @param location folder on the SSD; null without one
     * @param reason why it is not ONLINE, or an empty string
     */
    public record Status(
            State state,
            @org.jspecify.annotations.Nullable Path location,
            String reason,
            TierSettings settings,
            long mapTableEntries,
            long mapTableMaxEntries,
            long mapTableHeapBytes,
            int lruItems,
            long lruHits,
            long lruHeapBytes,
            long usedBytes,
            long liveBytes,
            PromotionStatistics promotion,
            DemotionStatistics demotion,
            DistributorStatistics distributor,
            SsdLogStatistics log) {}

    /**
     * Makes the tier and attaches its SSD. What is wrong with the SSD does not fail this: the tier is then DETACHED or FAILED, and
     * says why.
     */
    public static SsdTier open(
            @org.jspecify.annotations.Nullable Path location,
            UUID volume,
            TierSettings settings,
            long memoryBytes,
            CountSource counts,
            String name) {
        throw new UnsupportedOperationException();
    }

    public SelectivePromotion promotion() {
        throw new UnsupportedOperationException();
    }

    public DataDemotion demotion() {
        throw new UnsupportedOperationException();
    }

    public DataDistributor distributor() {
        throw new UnsupportedOperationException();
    }

    public Status status() {
        throw new UnsupportedOperationException();
    }

    /** Changes the settings, capacity included, while the volume is in use; what no longer qualifies is demoted. */
    public void change(TierSettings settings) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Stops using the SSD: when it returns, it can be pulled. The volume goes on without. */
    public void detach() throws IOException {
        throw new UnsupportedOperationException();
    }

    /**
     * Takes an SSD into use: an empty folder, or one that this volume used before.
     *
     * @throws IOException if it is of another volume, is not there, or can't be used; says which
     */
    public void attach(Path location) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Sets who hears of events; one at a time. */
    public void listen(Consumer<Event> listener) {
        throw new UnsupportedOperationException();
    }

    /** Idempotent. */
    @Override
    public void close() throws IOException {
        throw new UnsupportedOperationException();
    }
}
