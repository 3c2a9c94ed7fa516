package org.opendedup.sar.volume.engine;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.Collector;
import org.opendedup.sar.collect.Pins;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.container.ContainerOptions;
import org.opendedup.sar.container.ContainerSize;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.promotion.HotMemory;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.ingest.ProvenHints;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.objects.lease.LeaseKeeper;
import org.opendedup.sar.restore.RestoreEngine;
import org.opendedup.sar.restore.frame.FrameCache;
import org.opendedup.sar.restore.frame.HotSource;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.chunks.ChunkVolume;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.commit.FileChanges;
import org.opendedup.sar.volume.commit.WriteStop;
import org.opendedup.sar.volume.config.DescriptorPlan;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.OtherHistory;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.store.Ballasts;
import org.opendedup.sar.volume.store.DataLocations;
import org.opendedup.sar.volume.store.DeviceSpaces;
import org.opendedup.sar.volume.store.Location;
import org.opendedup.sar.volume.store.RemoteStatistics;
import org.opendedup.sar.volume.store.VolumeDevices;
import org.opendedup.sar.volume.store.VolumeLocations;
import org.opendedup.sar.volume.store.VolumeStores;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of an open volume that know chunks and neither files nor names: containers, metadata with counts and
 * container table, index, SSD, reading, damage, the space on the devices, and threads. A volume of files
 * ({@link VolumeContext}) and a volume of chunks ({@link ChunkVolume}) are two clients of it: each adds its commits,
 * its collector and its own way to write and read.
 */
public final class ChunkEngine {
    private static final Logger log = LoggerFactory.getLogger(ChunkEngine.class);
    /**
     * Maximum number of chunks per container. Limits a container's count record to some tens of KB, however small its
     * chunks compress.
     */
    private static final int MAX_CHUNKS_PER_CONTAINER = 16_384;
    /** Maximum number of open containers. Each of this many write streams has its own; further streams share. */
    public static final int MAX_OPEN_CONTAINERS = 8;
    /** Time that opening waits for an index that is not current to be brought up to date, in milliseconds. */
    private static final long INDEX_WAIT_MS = 5_000;
    /**
     * Threads for read-ahead. Enough for two readers with one step planned, one at the disk and one being decoded each;
     * further readers take turns.
     */
    private static final int PREFETCHERS = 6;
    /** Part of the memory for frame tables that an encrypted volume has for lists of containers instead. */
    private static final int LISTS_PART = 4;

    private final VolumeConfig config;
    private final String name;
    private final @Nullable LeaseKeeper lease;
    private final InstantSource clock;
    private final @Nullable Supplier<RemoteStatistics> remote;
    private final MetadataStore metadata;
    private final ContainerStore containers;
    private final HotChunks hot;
    /** The fingerprint index. Set before its first use: to an empty one if that of the volume cannot be used. */
    private ChunkIndex index;

    private final boolean indexIsCurrent;
    private final ReentrantReadWriteLock changeLock = new ReentrantReadWriteLock();
    private final GracePeriod uses = new GracePeriod();
    private final DamagedFrames damaged;
    private final DiskQueue disk;
    private final RestoreEngine restore;
    private final DeviceSpaces devices;
    private final MemoryPlan plan;
    private final IndexRebuilder rebuilder;
    /** Whether all that lies in the data location is of this history of the volume. */
    private final boolean ownsPacks;

    private final DataLocations data;
    private final Evacuation evacuation;
    /** Whether the metadata were restored, and the replaced ones were not given up, when the volume was opened. */
    private final boolean openedRestored;

    private final ExecutorService workers;
    private final ExecutorService storers;
    private final ScheduledExecutorService prefetchers;

    /**
     * Opens the parts of a volume and begins its next epoch.
     *
     * @param metadata the volume's metadata, opened
     * @param plan the division of the volume's memory budget
     * @param opened receives the steps that close the parts opened by then, the last opened first, for use if this
     *     constructor, or that of the client, fails
     */
    public ChunkEngine(
            VolumeConfig config,
            VolumeStores stores,
            MetadataStore metadata,
            Verification verification,
            MemoryPlan plan,
            Deque<Closing.Step> opened)
            throws IOException {
        data = DataLocations.of(stores.containers());
        Epoch found = data.lastUsed(metadata.header().volume());
        List<Location> left = LocationBinding.bind(metadata.locations(), data, stores.areReadOnly());
        boolean areOfSameHistory = found.equals(metadata.epochs().current());
        this.config = config;
        name = config.name();
        lease = stores.lease();
        int threads = config.writeThreads();
        clock = stores.clock();
        remote = stores.remote();
        this.metadata = metadata;
        this.plan = plan;
        index = stores.index();
        workers = Executors.newFixedThreadPool(threads, Threads.named(name + "-worker"));
        storers = Executors.newFixedThreadPool(threads, Threads.named(name + "-store"));
        prefetchers = Executors.newScheduledThreadPool(PREFETCHERS, Threads.urgent(name + "-prefetch"));
        opened.push(() -> Threads.end(workers));
        opened.push(() -> Threads.end(storers));
        opened.push(() -> Threads.end(prefetchers));
        long listBytes = config.keys() == null ? 0 : plan.frameTables() / LISTS_PART;
        containers = ContainerStore.open(
                data,
                new ContainerOptions(
                        config.compression(),
                        ContainerSize.FULL_BYTES,
                        MAX_CHUNKS_PER_CONTAINER,
                        MAX_OPEN_CONTAINERS,
                        plan.framesInFlight(),
                        ContainerCipher.of(config.keys())),
                metadata::nextContainer,
                new CountedContainers(metadata),
                container -> index.frameTable(container),
                (container, table) -> index.cover(container, table),
                workers,
                plan.frameTables() - listBytes);
        opened.push(containers::close);
        indexIsCurrent = EpochBinding.isCurrent(metadata, containers, index);
        if (!stores.areReadOnly()) {
            index = EpochBinding.begin(metadata, data, found, containers, index);
        }
        ChunkIndex renewable = index;
        if (config.keys() != null) {
            index = new ProvenHints(
                    index, container -> containers.directory(container).fingerprints(), listBytes);
        }
        openedRestored = OtherHistory.isMarked(data);
        ownsPacks = areOfSameHistory && !openedRestored;
        hot = stores.hot()
                .open(
                        config.locations().ssd(),
                        metadata.epochs(),
                        config.hot(),
                        new HotMemory(plan.hot(), plan.offers()),
                        metadata.counts()::occurrences,
                        name);
        opened.push(hot::close);
        disk = config.locations().remote() == null
                ? DiskQueue.of(config.restore().disk(), config.locations().data())
                : DiskQueue.ofStore(config.restore().disk(), data::requestCost);
        damaged = new DamagedFrames(containers, metadata, changeLock.readLock(), storers);
        damaged.noteLost();
        data.whenLost(damaged::lookAtPacksSoon);
        restore = new RestoreEngine(
                new RestoreEngine.Sources(
                        metadata.recipes(),
                        metadata.namespace(),
                        containers,
                        disk,
                        hot.isConfigured()
                                ? new HotSource(hot.distributor(), hot.promotion(), metadata.counts()::occurrences)
                                : null),
                new FrameCache(plan.frameCache()),
                config.restore().budget(plan.streams()),
                prefetchers,
                verification == Verification.FINGERPRINTS,
                damaged);
        VolumeDevices onDevices = stores.devices();
        devices = new DeviceSpaces(onDevices == null ? VolumeDevices.of(data) : onDevices, metadata);
        evacuation = new Evacuation(metadata.locations(), data, devices, left);
        rebuilder = new IndexRebuilder(
                containers, renewable, metadata, disk, devices::hasRoomForIndex, damaged::lookAtPacks, name);
    }

    /** Makes a volume of its opened stores. */
    @FunctionalInterface
    public interface Opening<T> {
        T open(VolumeStores stores) throws IOException;
    }

    /** Opens a volume at its locations. Gives up its ballasts if opening it finds a device full. */
    public static <T> T openAt(VolumeConfig config, Opening<T> opening) throws IOException {
        DescriptorPlan.require(config);
        VolumeLocations.makeLocalFolders(config.locations());
        Ballasts ballasts = Ballasts.of(config.locations());
        try {
            return openAt(config, ballasts, opening);
        } catch (IOException e) {
            if (!Device.isFull(e) || !ballasts.free("open the volume")) {
                throw e;
            }
            return openAt(config, ballasts, opening);
        }
    }

    private static <T> T openAt(VolumeConfig config, Ballasts ballasts, Opening<T> opening) throws IOException {
        return openOn(VolumeLocations.open(config, ballasts), opening);
    }

    /** Makes a volume of its opened stores. If that fails, closes them. */
    public static <T> T openOn(VolumeStores stores, Opening<T> opening) throws IOException {
        try {
            return opening.open(stores);
        } catch (IOException | RuntimeException e) {
            Closing closing = new Closing();
            closing.run(stores.index()::close);
            closing.run(stores.metadata()::close);
            closing.suppressedBy(e);
            throw e;
        }
    }

    /** Makes a client's parts of an engine. */
    @FunctionalInterface
    public interface Construction<T> {
        /** @param opened as of {@link ChunkEngine#ChunkEngine} */
        T make(Deque<Closing.Step> opened) throws IOException;
    }

    /** Makes a volume on an engine. If that fails, closes what was opened by then. */
    public static <T> T construct(Construction<T> construction) throws IOException {
        Deque<Closing.Step> opened = new ArrayDeque<>();
        try {
            return construction.make(opened);
        } catch (IOException | RuntimeException e) {
            Closing closing = new Closing();
            opened.forEach(closing::run);
            closing.suppressedBy(e);
            throw e;
        }
    }

    /** Returns what makes the changes of this engine durable, with those of the volume's files. */
    public Committer committer(FileChanges files, WriteStop stop) {
        Committer committer =
                new Committer(metadata, containers, files, devices, stop, changeLock, plan.pendingMetadata() / 2, name);
        committer.resumeWhen(() -> {
            RemoteStatistics now = remote();
            return now != null && now.takesMore();
        });
        return committer;
    }

    /** Returns the backups of the metadata of this engine. */
    public MetadataBackups backups(Committer committer) {
        return new MetadataBackups(config.locations(), config.keys(), metadata, clock, committer::refuseIfReadOnly);
    }

    /**
     * Returns the collector of this engine's garbage. It notes for the backups what it collects, and collects nothing
     * that replaced metadata may need.
     *
     * @param ofWriters the index as writers use it
     * @param freed see {@link SpaceCollector#SpaceCollector}
     */
    public SpaceCollector collector(
            ChunkIndex ofWriters, Committer committer, MetadataBackups backups, Supplier<Future<?>> freed)
            throws IOException {
        SpaceCollector collector = new SpaceCollector(
                new Collector.Parts(
                        metadata, containers, ofWriters, committer, uses, new Pins(), disk, damaged, ownsPacks),
                freed,
                devices,
                evacuation,
                metadata.firstFreeContainer());
        collector.beforeEach(backups::collectionBegins);
        collector.permit(() -> {
            committer.refuseIfReadOnly();
            OtherHistory.requireGivenUp(
                    config.locations().data(), "call: sdfscli " + name + " metadata-backup --accept-restored");
        });
        return collector;
    }

    /** Begins to bring the index up to date; waits some seconds for it if it was not in use in the last epoch. */
    public void updateIndex() throws IOException {
        rebuilder.start(indexIsCurrent ? 0 : INDEX_WAIT_MS);
    }

    /** Looks for missing packs, in the background. */
    public void lookAtPacks() {
        damaged.lookAtPacksSoon();
    }

    String name() {
        return name;
    }

    public InstantSource clock() {
        return clock;
    }

    /** Returns what is to be known of the object store now; null: the volume is on this machine only. */
    public @Nullable RemoteStatistics remote() {
        return remote == null ? null : remote.get();
    }

    public MetadataStore metadata() {
        return metadata;
    }

    public ContainerStore containers() {
        return containers;
    }

    /** Returns the fingerprint index; one that keeps nothing if that of the volume cannot be used. */
    public ChunkIndex index() {
        return index;
    }

    public IndexRebuilder rebuilder() {
        return rebuilder;
    }

    public HotChunks hot() {
        return hot;
    }

    /** The queue of the device that holds the containers. */
    public DiskQueue disk() {
        return disk;
    }

    /** The lock that changes of the metadata hold. */
    public Lock changes() {
        return changeLock.readLock();
    }

    /** Returns what keeps other machines from using the volume; null: it is on this one only. */
    public @Nullable LeaseKeeper lease() {
        return lease;
    }

    /** Uses of stored copies for which collections wait. */
    public GracePeriod uses() {
        return uses;
    }

    public DamagedFrames damaged() {
        return damaged;
    }

    public RestoreEngine restore() {
        return restore;
    }

    public DeviceSpaces devices() {
        return devices;
    }

    /** Returns what takes data locations from the volume. */
    public Evacuation evacuation() {
        return evacuation;
    }

    /** Returns the locations of the containers. */
    public DataLocations data() {
        return data;
    }

    /**
     * Uses a folder for packs from now on. {@link VolumeLocations#addFolder} has prepared it, and the configuration for
     * the next mount names it. One that its containers are leaving is used again; one that is used stays so.
     *
     * @throws IOException if it is not prepared, or the record of it cannot be written; the next mount uses it then
     */
    public synchronized void addLocation(Path folder) throws IOException {
        if (evacuation.useAgain(folder)) {
            return;
        }
        use(data.openFurther(folder));
        devices.addBallast(folder);
    }

    /** As above, of one that is open. */
    public void use(Location location) throws IOException {
        // Before the first pack: from then on no mount must do without the location.
        metadata.locations().put(location.record());
        data.add(location);
    }

    public MemoryPlan plan() {
        return plan;
    }

    public boolean ownsPacks() {
        return ownsPacks;
    }

    /** Returns whether the metadata had been restored, or older ones put back, when the volume was opened. */
    public boolean wasRestored() {
        return openedRestored;
    }

    /**
     * Returns whether the metadata were restored, and the replaced ones are not given up. Only a volume that is not
     * open is restored, so a volume that was not does not ask its disk, which may hang.
     */
    boolean isRestored() throws IOException {
        return openedRestored && OtherHistory.isMarked(data);
    }

    public ExecutorService workers() {
        return workers;
    }

    public ExecutorService storers() {
        return storers;
    }

    /**
     * Stores what is left and makes it durable: a part of closing a volume.
     *
     * @param committer made the commits; it makes no further ones by itself
     */
    public void commitLast(Committer committer, Closing closing) {
        endStoring(closing);
        closing.run(containers::endAll);
        closing.run(committer::commit);
    }

    /** Ends what stores, and what notes damage. */
    public void endStoring(Closing closing) {
        closing.run(() -> Threads.end(storers));
        closing.run(damaged::close);
    }

    /** Closes the stores, each after the parts that use it: the last part of closing a volume. */
    public void close(Closing closing) {
        closing.run(() -> Threads.end(prefetchers));
        closing.run(hot::close);
        closing.run(containers::close);
        closing.run(() -> Threads.end(workers));
        closing.run(() -> withFailureLogged(index::flush));
        closing.run(() -> withFailureLogged(index::close));
        closing.run(metadata::close);
    }

    /**
     * Runs a step that closes the index, and only logs a failure: the index is no source of truth. The next mount reads
     * from the containers what the index could not write, and rebuilds a damaged one.
     */
    private static void withFailureLogged(Closing.Step ofIndex) {
        try {
            ofIndex.run();
        } catch (IOException e) {
            log.warn(
                    "the fingerprint index could not be closed cleanly; what it lacks is indexed at the next mount: {}",
                    e.getMessage());
        }
    }
}
