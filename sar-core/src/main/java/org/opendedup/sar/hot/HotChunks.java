package org.opendedup.sar.hot;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.hot.copies.CopyCheck;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.hot.copies.SsdBudget;
import org.opendedup.sar.hot.copies.StoreOpener;
import org.opendedup.sar.hot.demotion.DataDemotion;
import org.opendedup.sar.hot.demotion.DemotionStatistics;
import org.opendedup.sar.hot.demotion.LruList;
import org.opendedup.sar.hot.distributor.DataDistributor;
import org.opendedup.sar.hot.distributor.DistributorStatistics;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.promotion.HotMemory;
import org.opendedup.sar.hot.promotion.PromotionStatistics;
import org.opendedup.sar.hot.promotion.SelectivePromotion;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.TimeLimit;
import org.opendedup.sar.ssd.AttachedSsd;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.Source;
import org.opendedup.sar.ssd.SsdLogStatistics;
import org.opendedup.sar.ssd.SsdStore;
import org.opendedup.sar.ssd.StoreMemory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The SSD of a volume and all that SAR does with it. The SSD can be attached, detached and attached again while the
 * volume is in use. Safe for use by many threads.
 */
public final class HotChunks implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(HotChunks.class);
    private static final HotSettings UNUSED =
            new HotSettings(false, 0, 5, 128 << 10, false, 0, HotSettings.Policy.REFERENCE_COUNT);

    private static final DemotionStatistics NO_DEMOTIONS = new DemotionStatistics(0, 0, 0, 0, false, 0, 0);

    /**
     * Current status of the SSD and its copies.
     *
     * @param location folder on the SSD; null if there is none
     * @param reason why the state is not ONLINE; if it is, what an administrator should know, or an empty string
     */
    public record Status(
            SsdState state,
            @Nullable Path location,
            String reason,
            HotSettings settings,
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
            SsdLogStatistics log) {
        /** Returns whether there is no SSD because an administrator detached it. */
        public boolean isDetachedOnRequest() {
            return state == SsdState.DETACHED && reason.equals(SsdLifecycle.ON_REQUEST);
        }
    }

    /** The list of recent reads gets at most 1/2 of the memory for SAR. */
    private static final int LRU_SHARE = 2;

    /** Upper bounds, in heap bytes, of a Map table entry and of an item of the LRU list (SAR paper §4.5.2). */
    static final int MAP_ENTRY_BYTES = 24;

    static final int LRU_ITEM_BYTES = 12;

    private final String name;
    private final HotMemory memory;
    private final SsdLifecycle lifecycle;
    private Runnable attached = () -> {};
    private final DataDistributor distributor;
    private final @Nullable Engine engine;
    private volatile HotSettings settings;
    /**
     * The list of recent reads, and (next) the Map table entries that the remaining memory allows. Both are planned
     * again at each attach.
     */
    private volatile @Nullable LruList lru;

    /** Chunks found in the list, and in those before it. */
    private final LongAdder lruHits = new LongAdder();

    private volatile int maxEntries;

    /** Decides about the contents of the SSD; a volume without an SSD location has none. */
    private record Engine(SelectivePromotion promotion, DataDemotion demotion) {}

    /** Makes the hot chunks of a volume that is opened: {@link HotChunks#open}, or that of a test. */
    @FunctionalInterface
    public interface Opener {
        HotChunks open(
                @Nullable Path location,
                Timeline timeline,
                @Nullable HotSettings settings,
                HotMemory memory,
                CountSource counts,
                String name);
    }

    private HotChunks(
            @Nullable Path location,
            Timeline timeline,
            HotSettings settings,
            HotMemory memory,
            CountSource counts,
            String name,
            AttachedSsd.Opener ssds,
            Supplier<CopyCheck> checks) {
        this.name = name;
        this.settings = settings;
        this.memory = memory;
        lifecycle = new SsdLifecycle(
                location, ssds, timeline, name, () -> demotion().makeRoom(), System::nanoTime, SsdLifecycle.LIMIT);
        distributor = new DataDistributor(lifecycle::attached, name, lifecycle, checks);
        engine = location == null ? null : engine(settings, counts);
    }

    private Engine engine(HotSettings settings, CountSource counts) {
        planMemory();
        DataDemotion demotion = new DataDemotion(lifecycle::attached, settings, counts, name);
        SelectivePromotion promotion =
                new SelectivePromotion(settings, lifecycle, demotion, this::noteRead, memory.mostRemembered());
        lifecycle.listenToOffers(promotion);
        return new Engine(promotion, demotion);
    }

    private boolean noteRead(long chunkId, int length) {
        LruList recent = lru;
        boolean isSecond = recent != null && recent.noteRead(chunkId, length);
        if (isSecond) {
            lruHits.increment();
        }
        return isSecond;
    }

    private void planMemory() {
        int wanted = settings.lruEntries();
        int items = lruItems(wanted, memory.tableBytes());
        if (items < wanted) {
            log.info("{}: the LRU list has {} items, not {}: the memory budget has no room", name, items, wanted);
        }
        lru = new LruList(items);
        maxEntries = mapEntries(items, memory.tableBytes());
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
        SsdStore.open(location, ContentHash.SHA_256, null, timeline, 0, new StoreMemory(0, 0), () -> {}, failure -> {})
                .close();
    }

    /**
     * Makes the hot chunks of a volume and attaches its SSD. A problem with the SSD does not fail this call: the state
     * is then DETACHED or FAILED, and the status has the reason. Waits at most one minute for an SSD that hangs.
     *
     * @param location folder on the SSD; null if the volume has none, which can only change when it is mounted again
     * @param settings null for those of a volume without a location
     * @param memory heap for all of it
     * @param name name of the volume, for threads and log lines
     */
    public static HotChunks open(
            @Nullable Path location,
            Timeline timeline,
            @Nullable HotSettings settings,
            HotMemory memory,
            CountSource counts,
            String name) {
        return open(
                location,
                timeline,
                settings,
                memory,
                counts,
                name,
                new StoreOpener(null, ContentHash.SHA_256, null),
                CopyCheck::byFingerprint);
    }

    /** Returns how many files the copies with these settings have open at most. */
    public static long mostOpenFiles(HotSettings settings) {
        return SsdStore.mostOpenFiles(settings.capacityBytes());
    }

    /**
     * Returns what opens the hot chunks of a volume.
     *
     * @param budget the bound of the SSD, if an index shares its capacity; else null
     * @param hash makes the fingerprints of the chunks
     * @param keys what copies are encrypted with; null: they are not
     */
    public static Opener opener(@Nullable SsdBudget budget, ContentHash hash, @Nullable VolumeKeys keys) {
        return (location, timeline, settings, memory, counts, name) -> open(
                location,
                timeline,
                settings,
                memory,
                counts,
                name,
                new StoreOpener(budget, hash, keys),
                () -> CopyCheck.byFingerprint(hash));
    }

    /** As above, with other ways to open SSDs and to check their copies. */
    public static HotChunks open(
            @Nullable Path location,
            Timeline timeline,
            @Nullable HotSettings settings,
            HotMemory memory,
            CountSource counts,
            String name,
            AttachedSsd.Opener ssds,
            Supplier<CopyCheck> checks) {
        HotSettings given = settings == null ? UNUSED : settings;
        HotChunks hot = new HotChunks(location, timeline, given, memory, counts, name, ssds, checks);
        hot.lifecycle.openAtMount(given.capacityBytes(), memory.ofStore(hot.maxEntries));
        return hot;
    }

    /** Returns whether the volume has an SSD location, attached or not. */
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

    /** Returns whether a copy of a chunk is on the SSD or on its way there. */
    public boolean contains(long chunkId) {
        return lifecycle.contains(chunkId);
    }

    /** Returns whether a copy of a chunk is on the SSD, not only on its way there. */
    public boolean holds(long chunkId) {
        AttachedSsd ssd = lifecycle.attached();
        return ssd != null && ssd.holds(chunkId);
    }

    /** Copies the Map table's entry of a chunk to {@code into}; returns false if there is none, or no SSD. */
    public boolean find(long chunkId, MapEntry into) {
        AttachedSsd ssd = lifecycle.attached();
        return ssd != null && ssd.get(chunkId, into);
    }

    /** Returns what verifies the copies on the SSD in use; null if the volume has no SSD location. */
    public @Nullable SsdAudit audit() {
        return isConfigured() ? new SsdAudit(lifecycle, name, SsdLifecycle.LIMIT) : null;
    }

    /**
     * Reads the copy of a chunk, whatever the state of its home. The caller verifies it.
     *
     * @param length all bytes of the chunk
     * @return null if there is none, or it cannot be read
     * @throws IOException if the SSD does not answer within 30 s
     */
    public byte @Nullable [] copy(long chunkId, int length, int fingerprintPrefix) throws IOException {
        AttachedSsd ssd = lifecycle.attached();
        if (ssd == null || lifecycle.state() == SsdState.SUSPENDED || !ssd.holds(chunkId)) {
            return null;
        }
        TimeLimit limit = new TimeLimit(name + "-ssd-heal", SsdLifecycle.LIMIT);
        byte[] found = limit.call(
                "reading a copy on the SSD", () -> read(ssd, chunkId, length, fingerprintPrefix), late -> {});
        return found.length == length ? found : null;
    }

    /** Returns the bytes of a copy; none if it cannot be read. */
    private static byte[] read(AttachedSsd ssd, long chunkId, int length, int fingerprintPrefix) {
        ChunkRequest request = new ChunkRequest();
        request.add(chunkId, length, fingerprintPrefix, -1);
        request.setSource(0, Source.SSD);
        ssd.read(request);
        byte[] data = request.data(0);
        int offset = request.offset(0);
        boolean isWhole = data != null && request.isFromSsd(0) && request.length(0) >= length;
        return isWhole && data != null ? Arrays.copyOfRange(data, offset, offset + length) : new byte[0];
    }

    public DataDistributor distributor() {
        return distributor;
    }

    public Status status() {
        AttachedSsd ssd = lifecycle.attached();
        LruList recent = lru;
        return new Status(
                lifecycle.state(),
                lifecycle.location(),
                lifecycle.reason(),
                settings,
                ssd == null ? 0 : ssd.copies(),
                maxEntries,
                ssd == null ? 0 : ssd.tableHeapBytes(),
                recent == null ? 0 : recent.size(),
                lruHits.sum(),
                recent == null ? 0 : recent.heapBytes(),
                ssd == null ? 0 : ssd.usedBytes(),
                ssd == null ? 0 : ssd.liveBytes(),
                engine == null ? PromotionStatistics.NONE : engine.promotion().statistics(),
                engine == null ? NO_DEMOTIONS : engine.demotion().statistics(),
                distributor.statistics(),
                lifecycle.logStatistics());
    }

    /** Changes the settings, capacity included, while the volume is in use; demotes what no longer qualifies. */
    public synchronized void change(HotSettings changed) throws IOException {
        Engine engine = requireLocation();
        settings = changed;
        lifecycle.resize(changed.capacityBytes());
        engine.promotion().apply(changed);
        engine.demotion().apply(changed);
    }

    /** Stops using the SSD. After it returns, the SSD can be unplugged; the volume continues without it. */
    public void detach() throws IOException {
        requireLocation();
        lifecycle.detach();
    }

    /**
     * Starts to remove unreferenced chunks from the SSD, in the background: no notice of them arrived while no SSD was
     * attached. To be called once reference counts are available; {@link #attach} does the same.
     */
    public void demoteUnreferenced() {
        if (engine != null) {
            engine.demotion().noteAttached();
        }
    }

    /**
     * Attaches an SSD: a folder that is missing or empty, or one that this volume used earlier. Detaches the SSD in use
     * first.
     *
     * @throws IOException if the folder belongs to another volume, is not a folder, does not answer, or can't be used;
     *     the message says which
     */
    public synchronized void attach(Path location) throws IOException {
        Engine engine = requireLocation();
        planMemory();
        lifecycle.attach(location, settings.capacityBytes(), memory.ofStore(maxEntries));
        distributor.startAfresh();
        engine.demotion().noteAttached();
        attached.run();
    }

    /** Sets what is run after each {@link #attach}; it must not wait. */
    public synchronized void whenAttached(Runnable toRun) {
        attached = toRun;
    }

    private Engine requireLocation() throws IOException {
        if (engine == null) {
            throw new IOException("the volume has no SSD location; configure one and mount again");
        }
        return engine;
    }

    /** Sets the listener for events; there is only one. */
    public void listen(Consumer<SsdEvent> listener) {
        lifecycle.listen(listener);
    }

    /** Closes the SSD and all that works with it. Idempotent. */
    @Override
    public void close() throws IOException {
        if (engine != null) {
            engine.demotion().close();
        }
        distributor.close();
        lifecycle.close();
    }
}
