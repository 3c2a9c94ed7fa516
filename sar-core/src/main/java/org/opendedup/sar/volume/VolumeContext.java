package org.opendedup.sar.volume;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunker;
import org.opendedup.sar.chunk.Chunkers;
import org.opendedup.sar.chunk.Fingerprinter;
import org.opendedup.sar.collect.Collector;
import org.opendedup.sar.collect.Pins;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.container.ContainerOptions;
import org.opendedup.sar.container.ContainerSize;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.ingest.IngestPipeline;
import org.opendedup.sar.ingest.IngestStores;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.TimeLimit;
import org.opendedup.sar.join.LossSample;
import org.opendedup.sar.join.SampledIndex;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.RawRecord;
import org.opendedup.sar.metadata.RecordCursor;
import org.opendedup.sar.raw.AbsentRawFolder;
import org.opendedup.sar.raw.RawFolder;
import org.opendedup.sar.restore.RestoreEngine;
import org.opendedup.sar.restore.frame.FrameCaches;
import org.opendedup.sar.restore.frame.ReadTier;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.tier.promotion.BackgroundPromotion;
import org.opendedup.sar.tier.promotion.PromotionSources;
import org.opendedup.sar.tier.promotion.TierMemory;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.OtherHistory;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.opendedup.sar.volume.store.Ballasts;
import org.opendedup.sar.volume.store.DeviceSpaces;
import org.opendedup.sar.volume.store.VolumeDevices;
import org.opendedup.sar.volume.store.VolumeLocations;
import org.opendedup.sar.volume.store.VolumeStores;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of an open volume. Creates them, connects them, and assigns their threads and memory. The only class that
 * knows all of them.
 */
final class VolumeContext implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(VolumeContext.class);
    /**
     * Maximum number of chunks per container. Limits a container's count record to some tens of KB, however small its
     * chunks compress.
     */
    private static final int MAX_CHUNKS_PER_CONTAINER = 16_384;
    /** Maximum number of open containers. Each of this many write streams has its own; further streams share. */
    private static final int MAX_OPEN_CONTAINERS = 8;
    /** Time that opening waits for an index that is not current to be brought up to date, in milliseconds. */
    private static final long INDEX_WAIT_MS = 5_000;
    /**
     * Threads for read-ahead. Enough for two readers with one step planned, one at the disk and one being decoded each;
     * further readers take turns.
     */
    private static final int PREFETCHERS = 6;

    /** Bytes that background promotion reads at once. */
    private static final int PROMOTION_STEP_BYTES = 8 << 20;

    private final InstantSource clock;
    private final MetadataStore metadata;
    private final ContainerStore containers;
    private final SsdTier tier;
    private final @Nullable BackgroundPromotion promotion;
    /** The fingerprint index. Set before its first use: to an empty one if that of the volume cannot be used. */
    private ChunkIndex index;

    private final boolean indexIsCurrent;
    private final NodeTable nodes;
    private final FileWriter writer;
    private final Committer committer;
    private final ExtendedAttributes attributes;
    private final DirectoryTree tree;
    private final Listing listing;
    private final Reaper reaper;
    private final IngestPipeline ingest;
    private final DamagedFrames damaged;
    private final DiskQueue disk;
    private final RestoreEngine restore;
    private final DeviceSpaces devices;
    private final SpaceCollector collector;
    private final LossSample lossSample;
    private final Capacity capacity;
    private final DirtyBudget dirtyBudget;
    private final MemoryPlan plan;
    private final IndexRebuilder rebuilder;
    private final RawFiles raws;
    private final RawMover mover;
    private final FastTier fastTier;
    /** Whether files without a record are of no history that is known, so that they may be deleted. */
    private final boolean mayDeleteStrays;

    private final ExecutorService workers;
    private final ExecutorService storers;
    private final ScheduledExecutorService prefetchers;
    private final LongAdder readBytes = new LongAdder();
    private final LongAdder writtenBytes = new LongAdder();
    private final LongAdder openings = new LongAdder();

    /**
     * @param opened receives the steps that close the parts opened by then, the last opened first, for use if this
     *     constructor fails
     */
    private VolumeContext(
            VolumeConfig config,
            VolumeStores stores,
            MetadataStore metadata,
            Verification verification,
            Deque<Closing.Step> opened)
            throws IOException {
        Epoch found = VolumeIdentity.read(stores.containers(), metadata.header().volume());
        boolean ownsPacks = found.equals(metadata.epochs().current()) && !OtherHistory.isMarked(stores.containers());
        GracePeriod uses = new GracePeriod();
        String name = config.name();
        int threads = config.writeThreads();
        clock = stores.clock();
        this.metadata = metadata;
        plan = MemoryPlan.of(config);
        index = stores.index();
        workers = Executors.newFixedThreadPool(threads, Threads.named(name + "-worker"));
        storers = Executors.newFixedThreadPool(threads, Threads.named(name + "-store"));
        prefetchers = Executors.newScheduledThreadPool(PREFETCHERS, Threads.urgent(name + "-prefetch"));
        opened.push(() -> Threads.end(workers));
        opened.push(() -> Threads.end(storers));
        opened.push(() -> Threads.end(prefetchers));
        containers = ContainerStore.open(
                stores.containers(),
                new ContainerOptions(
                        config.compression(),
                        ContainerSize.FULL_BYTES,
                        MAX_CHUNKS_PER_CONTAINER,
                        MAX_OPEN_CONTAINERS,
                        plan.framesInFlight()),
                metadata::nextContainer,
                new CountedContainers(metadata),
                container -> index.frameTable(container),
                (container, table) -> index.cover(container, table),
                workers,
                plan.frameTables());
        opened.push(containers::close);
        indexIsCurrent = EpochBinding.isCurrent(metadata, containers, index);
        index = EpochBinding.begin(metadata, stores.containers(), found, containers, index);
        tier = stores.tier()
                .open(
                        config.locations().ssd(),
                        metadata.epochs(),
                        config.tier(),
                        new TierMemory(plan.tier(), plan.offers()),
                        metadata.counts()::occurrences,
                        name);
        opened.push(tier::close);
        if (tier.isConfigured()) {
            metadata.counts().listen(tier.demotion()::unreferenced);
        }
        disk = DiskQueue.of(config.restore().disk(), config.locations().data());
        ReentrantReadWriteLock changeLock = new ReentrantReadWriteLock();
        damaged = new DamagedFrames(containers, metadata, changeLock.readLock(), storers);
        damaged.noteLost();
        restore = new RestoreEngine(
                new RestoreEngine.Sources(
                        metadata.recipes(),
                        containers,
                        disk,
                        tier.isConfigured()
                                ? new ReadTier(tier.distributor(), tier.promotion(), metadata.counts()::occurrences)
                                : null),
                FrameCaches.lru(plan.frameCache()),
                config.restore().budget(plan.streams()),
                prefetchers,
                verification == Verification.FINGERPRINTS,
                damaged);
        promotion = tier.isConfigured() ? promoteInBackground(config) : null;
        if (promotion != null) {
            opened.push(promotion::close);
        }
        dirtyBudget = new DirtyBudget(plan.dirty());
        VolumeDevices onDevices = stores.devices();
        devices = new DeviceSpaces(onDevices == null ? VolumeDevices.of(stores.containers()) : onDevices, metadata);
        capacity = new Capacity(
                config.capacityBytes(),
                config.maximumFullPercentage(),
                metadata.totals().logicalBytes());
        Chunker chunker = Chunkers.of(config.chunking());
        lossSample = new LossSample(clock.millis());
        ChunkIndex sampled = new SampledIndex(index, lossSample);
        ingest = new IngestPipeline(
                chunker,
                new IngestStores(new Fingerprinter(workers, threads - 1), sampled, containers, metadata, uses),
                (inode, offset, target, at, length) ->
                        restore.read(inode, offset, length, ByteBuffer.wrap(target, at, length)),
                changeLock.readLock(),
                damaged::contains,
                plan.parallelRuns(),
                tier.isConfigured() ? tier.promotion() : null);
        RawTable rawTable = new RawTable();
        AnswerLimit answers = new AnswerLimit(
                name,
                stores.raw() == null ? RawFolder.ANSWER_LIMIT : stores.raw().answerLimit());
        RawPlace rawPlace = new RawPlace(openRaw(config, stores, metadata, answers), answers);
        RawFiles.load(metadata, rawTable, rawPlace);
        nodes = new NodeTable(metadata, rawTable, capacity, (int) (plan.nodes() / NodeTable.NODE_BYTES), this::free);
        metadata.recipes().listen(nodes::noteData);
        WriteStop stop = new WriteStop();
        IntentLog intents = new IntentLog(metadata, nodes, changeLock.readLock(), devices, plan.intentLog());
        writer = new FileWriter(ingest, metadata, nodes, capacity, dirtyBudget, storers, devices, stop, intents);
        committer = new Committer(
                metadata, containers, nodes, writer, devices, stop, changeLock, plan.pendingMetadata() / 2, name);
        attributes = new ExtendedAttributes(metadata.namespace());
        NameView view = new NameView();
        Placements placements = new Placements(config.raw(), nodes, attributes);
        raws = new RawFiles(metadata, rawTable, rawPlace, nodes, committer, plan.raws() / RawTable.FILE_BYTES);
        committer.beforeEachPeriodic(raws::syncIfAnswering);
        tree = new DirectoryTree(metadata, nodes, writer, committer, clock, attributes, view, placements, raws);
        listing = new Listing(metadata.namespace(), nodes, view);
        reaper = new Reaper(metadata, committer, capacity, raws::forget, name);
        rebuilder = new IndexRebuilder(containers, index, metadata, damaged::lookAtPacks, name);
        collector = new SpaceCollector(
                new Collector.Parts(
                        metadata, containers, sampled, committer, uses, new Pins(), disk, damaged, ownsPacks),
                reaper,
                devices,
                metadata.firstFreeContainer());
        BackgroundThrottle throttle = new BackgroundThrottle(this::programUse);
        RawCopier copier = new RawCopier(new RawCopier.Parts(
                metadata,
                raws,
                nodes,
                committer,
                ingest,
                reaper,
                collector,
                devices,
                stop,
                dirtyBudget,
                capacity,
                this::underWayBytes,
                throttle));
        FolderOrder order = new FolderOrder(raws, metadata.namespace());
        mover = new RawMover(raws, copier, nodes, committer, order, throttle, disk, config.raw(), name);
        fastTier = new FastTier(metadata, nodes, committer, config, raws, copier, mover, placements);
        mayDeleteStrays = ownsPacks;
    }

    /** Opens the raw files. The volume can be used without them if the fast tier is not there. */
    private static RawFolder openRaw(
            VolumeConfig config, VolumeStores stores, MetadataStore metadata, AnswerLimit answers) throws IOException {
        RawFolder.Opener opener = stores.raw();
        if (opener == null) {
            return new AbsentRawFolder("the volume has none");
        }
        try {
            UUID volume = metadata.header().volume();
            return answers.call("opening the raw files", () -> opener.open(volume));
        } catch (IOException e) {
            try (RecordCursor<RawRecord> records = metadata.raws().all()) {
                if (config.raw().isEnabled() || records.next()) {
                    log.error("the files that lie on the fast tier cannot be used: {}", e.getMessage());
                }
            }
            return new AbsentRawFolder(String.valueOf(e.getMessage()));
        }
    }

    /**
     * Deletes the backing files that a crash left, and makes those again that it lost. The volume can be used without
     * the fast tier if that does not answer.
     */
    private void cleanFastTier() throws IOException {
        if (raws.isAbsent()) {
            return;
        }
        try {
            raws.makeLost();
            if (mayDeleteStrays) {
                long swept = raws.sweep();
                if (swept > 0) {
                    log.info("{} files of the fast tier belong to no file of the volume and were deleted", swept);
                }
            }
        } catch (TimeLimit.ExceededException e) {
            raws.setFolder(new AbsentRawFolder(String.valueOf(e.getMessage())));
        }
    }

    private void updateIndex() throws IOException {
        if (devices.hasRoomForIndex()) {
            rebuilder.start(indexIsCurrent ? 0 : INDEX_WAIT_MS);
        } else {
            log.info("the disk is full; the fingerprint index is updated at the next mount with enough space");
            storers.execute(damaged::lookAtPacks);
        }
    }

    /**
     * Records that bytes {@code from} to {@code to} (exclusive) of a file got their references by a copy, which did not
     * read the bytes themselves. Background promotion handles them.
     */
    void noteCopied(long inode, long from, long to) {
        if (promotion != null) {
            promotion.note(inode);
            promotion.noteLate(inode, from, to);
        }
    }

    private BackgroundPromotion promoteInBackground(VolumeConfig config) {
        BackgroundPromotion background = new BackgroundPromotion(
                tier.promotion(),
                tier.demotion(),
                new PromotionSources(
                        metadata.recipes(),
                        containers,
                        restore.inBackground(),
                        metadata.counts()::occurrences,
                        this::diskUse),
                PROMOTION_STEP_BYTES,
                plan.tier(),
                config.name());
        tier.promotion().listen(background::note);
        tier.promotion().listenUnfinished(background::noteLate);
        return background;
    }

    /** Returns a number that changes whenever a program opens, reads or writes a file and the daemon is asked. */
    long programUse() {
        return openings.sum() + readBytes.sum() + writtenBytes.sum();
    }

    /** Returns a number that changes whenever a read misses the cache or a write is made. */
    private long diskUse() {
        return restore.cacheMisses() + writtenBytes.sum();
    }

    /** Opens a volume at its locations. Gives up its ballasts if opening it finds a device full. */
    static VolumeContext open(VolumeConfig config, Verification verification) throws IOException {
        Ballasts ballasts = Ballasts.of(config.locations());
        try {
            return open(config, verification, ballasts);
        } catch (IOException e) {
            if (!Device.isFull(e) || !ballasts.free("open the volume")) {
                throw e;
            }
            return open(config, verification, ballasts);
        }
    }

    private static VolumeContext open(VolumeConfig config, Verification verification, Ballasts ballasts)
            throws IOException {
        VolumeStores stores = VolumeLocations.open(config, ballasts);
        try {
            return open(config, stores, verification);
        } catch (IOException | RuntimeException e) {
            Closing closing = new Closing();
            closing.run(stores.index()::close);
            closing.run(stores.metadata()::close);
            closing.suppressedBy(e);
            throw e;
        }
    }

    static VolumeContext open(VolumeConfig config, VolumeStores stores, Verification verification) throws IOException {
        MemoryPlan plan = MemoryPlan.of(config);
        MetadataStore metadata = MetadataStore.open(stores.metadata(), plan.metadataCache());
        if (metadata.header().pageBytes() != config.pageBytes()) {
            throw new PosixException(
                    PosixException.Reason.EINVAL,
                    "the volume was made with an io-chunk-size of "
                            + metadata.header().pageBytes() + " bytes, not " + config.pageBytes());
        }
        Deque<Closing.Step> opened = new ArrayDeque<>();
        VolumeContext context;
        try {
            context = new VolumeContext(config, stores, metadata, verification, opened);
        } catch (IOException | RuntimeException e) {
            Closing closing = new Closing();
            opened.forEach(closing::run);
            closing.suppressedBy(e);
            throw e;
        }
        try {
            new IntentReplay(metadata, context.nodes, context.writer, context.dirtyBudget, context.capacity).run();
            context.committer.commitRecovery();
            // Before anything removes a record: what has none now has none that is durable.
            context.cleanFastTier();
            context.reaper.resume(context.nodes);
            context.updateIndex();
            context.mover.start();
            context.committer.start();
            context.tier.demoteUnreferenced();
            return context;
        } catch (IOException | RuntimeException e) {
            try {
                context.close();
            } catch (IOException | RuntimeException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    private void free(Node node) {
        writer.discard(node);
        reaper.free(node, nodes);
    }

    InstantSource clock() {
        return clock;
    }

    MetadataStore metadata() {
        return metadata;
    }

    ContainerStore containers() {
        return containers;
    }

    NodeTable nodes() {
        return nodes;
    }

    FileWriter writer() {
        return writer;
    }

    Committer committer() {
        return committer;
    }

    ExtendedAttributes attributes() {
        return attributes;
    }

    DirectoryTree tree() {
        return tree;
    }

    Listing listing() {
        return listing;
    }

    Reaper reaper() {
        return reaper;
    }

    IngestPipeline ingest() {
        return ingest;
    }

    /** The queue of the device that holds the containers. */
    DiskQueue disk() {
        return disk;
    }

    RestoreEngine restore() {
        return restore;
    }

    SsdTier tier() {
        return tier;
    }

    /** Returns the fingerprint index; one that keeps nothing if that of the volume cannot be used. */
    ChunkIndex index() {
        return index;
    }

    /** Returns what estimates how much is stored more than once. */
    LossSample lossSample() {
        return lossSample;
    }

    RawFiles raws() {
        return raws;
    }

    RawMover mover() {
        return mover;
    }

    FastTier fastTier() {
        return fastTier;
    }

    DeviceSpaces devices() {
        return devices;
    }

    Capacity capacity() {
        return capacity;
    }

    DirtyBudget dirtyBudget() {
        return dirtyBudget;
    }

    LongAdder readBytes() {
        return readBytes;
    }

    LongAdder writtenBytes() {
        return writtenBytes;
    }

    /** Counts how often files were opened. */
    LongAdder openings() {
        return openings;
    }

    VolumeCondition condition() throws IOException {
        return VolumeCondition.of(committer, devices, metadata, damaged, rebuilder.condition());
    }

    /** Returns the configured memory budget, in bytes. */
    long memoryBudgetBytes() {
        return plan.budget();
    }

    DamagedFrames damaged() {
        return damaged;
    }

    SpaceCollector collector() {
        return collector;
    }

    /** Returns the maximum number of bytes that are accepted and not in a container file yet. */
    long underWayBytes() {
        return dirtyBudget.usedBytes() + plan.framesInFlight();
    }

    /**
     * Stores, commits and closes all parts, each after the parts that use it. Continues after a failure, and throws it
     * at the end. Retries once to store what failed writes left in memory.
     *
     * @throws UnsavedChangesException if some accepted changes are not durable
     */
    @Override
    public void close() throws IOException {
        Closing closing = new Closing();
        closing.run(collector::close);
        closing.run(mover::close);
        closing.run(raws::syncWritten);
        closing.run(committer::close);
        closing.run(reaper::close);
        closing.run(rebuilder::close);
        closing.run(committer::resume);
        closing.run(committer::retryIfShort);
        closing.run(writer::storeEverything);
        closing.run(() -> Threads.end(storers));
        closing.run(damaged::close);
        closing.run(containers::endAll);
        closing.run(committer::commit);
        UnsavedChanges unsaved = UnsavedChanges.of(writer, nodes, metadata);
        closing.run(() -> Threads.end(prefetchers));
        if (promotion != null) {
            closing.run(promotion::close);
        }
        closing.run(tier::close);
        closing.run(containers::close);
        closing.run(() -> Threads.end(workers));
        closing.run(() -> withFailureLogged(index::flush));
        closing.run(() -> withFailureLogged(index::close));
        closing.run(metadata::close);
        closing.run(raws.folder()::close);
        if (!unsaved.isNone()) {
            UnsavedChangesException lost = new UnsavedChangesException(unsaved);
            closing.causeOf(lost);
            throw lost;
        }
        closing.finish();
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

    IndexRebuilder rebuilder() {
        return rebuilder;
    }
}
