package org.opendedup.sar.tier;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.ssd.SsdLogStatistics;
import org.opendedup.sar.ssd.SsdStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The SSD of a volume and everything SAR does with it: attached, taken away and brought back while the volume is in use. Safe for
 * use by many threads.
 */
public final class SsdTier implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(SsdTier.class);
    private static final TierSettings UNUSED =
            new TierSettings(false, 0, 5, 128 << 10, false, 0, TierSettings.Policy.REFERENCE_COUNT);

    private static final PromotionStatistics NO_PROMOTIONS = new PromotionStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    private static final DemotionStatistics NO_DEMOTIONS = new DemotionStatistics(0, 0, 0, 0, false, 0, 0);
    private static final SsdLogStatistics NO_LOG = new SsdLogStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

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
     * @param reason why it is not ONLINE, or else what an administrator should know, or an empty string
     */
    public record Status(
            State state,
            @Nullable Path location,
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

    /** Of the memory for SAR, the list of recent reads gets no more than a half. */
    private static final int LRU_SHARE = 2;

    /** Most heap bytes of a Map table entry and of an item of the LRU list (SAR paper §4.5.2). */
    static final int MAP_ENTRY_BYTES = 24;

    static final int LRU_ITEM_BYTES = 12;

    private final String name;
    private final long memoryBytes;
    private final SsdConnection connection;
    private final DataDistributor distributor;
    private final @Nullable Engine engine;
    private volatile TierSettings settings;
    /** The list of recent reads, and what it leaves of the memory for the Map table: both planned anew with each attach. */
    private volatile @Nullable LruList lru;

    private volatile int maxEntries;

    /** What decides about the SSD's contents; a volume without an SSD location has none of it. */
    private record Engine(SelectivePromotion promotion, DataDemotion demotion) {}

    /** Makes the tier of a volume that is opened: {@link SsdTier#open}, or a test's. */
    @FunctionalInterface
    public interface Opener {
        SsdTier open(
                @Nullable Path location,
                Timeline timeline,
                @Nullable TierSettings settings,
                long memoryBytes,
                CountSource counts,
                String name);
    }

    private SsdTier(
            @Nullable Path location,
            Timeline timeline,
            TierSettings settings,
            long memoryBytes,
            CountSource counts,
            String name,
            AttachedSsd.Opener ssds,
            Supplier<CopyCheck> checks) {
        this.name = name;
        this.settings = settings;
        this.memoryBytes = memoryBytes;
        connection = new SsdConnection(
                location, ssds, timeline, name, () -> demotion().makeRoom(), System::nanoTime, SsdConnection.LIMIT);
        distributor = new DataDistributor(connection::attached, name, connection, checks);
        engine = location == null ? null : engine(settings, counts);
    }

    private Engine engine(TierSettings settings, CountSource counts) {
        planMemory();
        DataDemotion demotion = new DataDemotion(connection::attached, settings, counts, name);
        return new Engine(new SelectivePromotion(settings, connection, demotion, this::noteRead), demotion);
    }

    private boolean noteRead(long chunkId, int length) {
        LruList recent = lru;
        return recent != null && recent.noteRead(chunkId, length);
    }

    private void planMemory() {
        int wanted = settings.lruEntries();
        int items = lruItems(wanted, memoryBytes);
        if (items < wanted) {
            log.info("{}: the LRU list has {} items, not {}: the memory budget has no room", name, items, wanted);
        }
        lru = new LruList(items);
        maxEntries = mapEntries(items, memoryBytes);
    }

    static int lruItems(int wanted, long memoryBytes) {
        return (int) Math.min(wanted, memoryBytes / LRU_SHARE / LRU_ITEM_BYTES);
    }

    static int mapEntries(int lruItems, long memoryBytes) {
        return (int) Math.min(Integer.MAX_VALUE, (memoryBytes - (long) lruItems * LRU_ITEM_BYTES) / MAP_ENTRY_BYTES);
    }

    /** Makes an empty folder the SSD location of a new volume. */
    public static void create(Path location, Timeline timeline) throws IOException {
        PrivateFiles.createFolders(location);
        SsdStore.open(location, timeline, 0, 0, () -> {}, failure -> {}).close();
    }

    /**
     * Makes the tier and attaches its SSD. What is wrong with the SSD does not fail this: the tier is then DETACHED or FAILED, and
     * says why. One that hangs is waited for a minute at most.
     *
     * @param location folder on the SSD; null: the volume has none, and gets none before it is mounted again
     * @param settings null: those of a volume without a location
     * @param memoryBytes heap for Map table and LRU list
     * @param name of the volume, for threads and log lines
     */
    public static SsdTier open(
            @Nullable Path location,
            Timeline timeline,
            @Nullable TierSettings settings,
            long memoryBytes,
            CountSource counts,
            String name) {
        return open(
                location,
                timeline,
                settings,
                memoryBytes,
                counts,
                name,
                new StoredCopies.Opener(),
                CopyCheck::byFingerprint);
    }

    /** As above, with SSDs that are opened and believed otherwise. */
    static SsdTier open(
            @Nullable Path location,
            Timeline timeline,
            @Nullable TierSettings settings,
            long memoryBytes,
            CountSource counts,
            String name,
            AttachedSsd.Opener ssds,
            Supplier<CopyCheck> checks) {
        TierSettings given = settings == null ? UNUSED : settings;
        SsdTier tier = new SsdTier(location, timeline, given, memoryBytes, counts, name, ssds, checks);
        tier.connection.openAtMount(given.capacityBytes(), tier.maxEntries);
        return tier;
    }

    /** Whether the volume has an SSD location, attached or not. */
    public boolean isConfigured() {
        return engine != null;
    }

    private Engine engine() {
        if (engine == null) {
            throw new IllegalStateException("the volume has no SSD location");
        }
        return engine;
    }

    /** @throws IllegalStateException if the volume has no SSD location */
    public SelectivePromotion promotion() {
        return engine().promotion();
    }

    /** @throws IllegalStateException if the volume has no SSD location */
    public DataDemotion demotion() {
        return engine().demotion();
    }

    /** Whether there is a copy of a chunk on the SSD, or on its way there. */
    public boolean contains(long chunkId) {
        return connection.contains(chunkId);
    }

    public DataDistributor distributor() {
        return distributor;
    }

    public Status status() {
        AttachedSsd ssd = connection.attached();
        LruList recent = lru;
        return new Status(
                connection.state(),
                connection.location(),
                connection.reason(),
                settings,
                ssd == null ? 0 : ssd.copies(),
                maxEntries,
                ssd == null ? 0 : ssd.tableHeapBytes(),
                recent == null ? 0 : recent.size(),
                recent == null ? 0 : recent.hits(),
                recent == null ? 0 : recent.heapBytes(),
                ssd == null ? 0 : ssd.usedBytes(),
                ssd == null ? 0 : ssd.liveBytes(),
                engine == null ? NO_PROMOTIONS : engine.promotion().statistics(),
                engine == null ? NO_DEMOTIONS : engine.demotion().statistics(),
                distributor.statistics(),
                ssd == null ? NO_LOG : ssd.statistics());
    }

    /** Changes the settings, capacity included, while the volume is in use; what no longer qualifies is demoted. */
    public synchronized void change(TierSettings changed) throws IOException {
        Engine engine = requireLocation();
        settings = changed;
        AttachedSsd ssd = connection.attached();
        if (ssd != null) {
            ssd.resize(changed.capacityBytes());
        }
        engine.promotion().apply(changed);
        engine.demotion().apply(changed);
    }

    /** Stops using the SSD: when it returns, it can be pulled. The volume goes on without. */
    public void detach() throws IOException {
        requireLocation();
        connection.detach();
    }

    /**
     * Has what nothing refers to any more leave the SSD, in the background: it was not told while no SSD was attached. To be called
     * when reference counts can be asked; attaching does it by itself.
     */
    public void demoteUnreferenced() {
        if (engine != null) {
            engine.demotion().noteAttached();
        }
    }

    /**
     * Takes an SSD into use: an empty folder, or one that this volume used before. One that is in use now is detached first.
     *
     * @throws IOException if it is of another volume, is not there, does not answer, or can't be used; says which
     */
    public synchronized void attach(Path location) throws IOException {
        Engine engine = requireLocation();
        planMemory();
        connection.attach(location, settings.capacityBytes(), maxEntries);
        distributor.startAfresh();
        engine.demotion().noteAttached();
    }

    private Engine requireLocation() throws IOException {
        if (engine == null) {
            throw new IOException(
                    "the volume has no SSD location, so it has no memory for one; give it one and mount it again");
        }
        return engine;
    }

    /** Sets who hears of events; one at a time. */
    public void listen(Consumer<Event> listener) {
        connection.listen(listener);
    }

    /** Idempotent. */
    @Override
    public void close() throws IOException {
        if (engine != null) {
            engine.demotion().close();
        }
        distributor.close();
        connection.close();
    }
}
