package org.opendedup.sar.volume;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunker;
import org.opendedup.sar.chunk.Chunkers;
import org.opendedup.sar.chunk.Fingerprinter;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.container.ContainerOptions;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.ingest.IngestPipeline;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.restore.DiskQueue;
import org.opendedup.sar.restore.FrameCaches;
import org.opendedup.sar.restore.ReadTier;
import org.opendedup.sar.restore.RestoreEngine;
import org.opendedup.sar.tier.RecipePromotion;
import org.opendedup.sar.tier.SsdTier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of an open volume, put together: who is given whom, how many threads, how much memory. The one place that knows
 * all of them.
 */
final class VolumeParts implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(VolumeParts.class);
    /** Keeps a container's count record within some tens of KB, whatever its chunks shrink to. */
    private static final int MAX_CHUNKS_PER_CONTAINER = 16_384;
    /** Streams that write at once keep their chunks together; more share. */
    private static final int MAX_OPEN_CONTAINERS = 8;
    /** How long opening waits for the index to be brought up to date. */
    private static final long INDEX_WAIT_MS = 5_000;
    /** Two readers can have a step planned, one at the disk and one being decoded each; more take turns. */
    private static final int PREFETCHERS = 6;

    /** What background promotion reads at once. */
    private static final int PROMOTION_STEP_BYTES = 8 << 20;

    private final MetadataStore metadata;
    private final ContainerStore containers;
    private final SsdTier tier;
    private final @Nullable RecipePromotion recipePromotion;
    /** Set before anybody uses it: to none if that of the volume can't be used. */
    private ChunkIndex index;

    private final NodeTable nodes;
    private final FileWriter writer;
    private final Committer committer;
    private final ExtendedAttributes attributes;
    private final Tree tree;
    private final Listing listing;
    private final Reaper reaper;
    private final IngestPipeline ingest;
    private final DamagedFrames damaged;
    private final DiskQueue disk;
    private final RestoreEngine restore;
    private final DeviceSpaces devices;
    private final Capacity capacity;
    private final DirtyBudget dirtyBudget;
    private final MemoryPlan plan;
    private final IndexRebuilder rebuilder;
    private final ExecutorService workers;
    private final ExecutorService storers;
    private final ScheduledExecutorService prefetchers;
    private final LongAdder readBytes = new LongAdder();
    private final LongAdder writtenBytes = new LongAdder();

    /** @param opened gets what is to be closed if this fails, the last opened first */
    private VolumeParts(
            VolumeConfig config,
            VolumeStores stores,
            MetadataStore metadata,
            Verification verification,
            Deque<Closing.Step> opened)
            throws IOException {
        Epoch found = VolumeIdentity.read(stores.containers(), metadata.header().volume());
        String name = config.name();
        int threads = config.writeThreads();
        this.metadata = metadata;
        plan = MemoryPlan.of(config);
        index = stores.index();
        workers = Executors.newFixedThreadPool(threads, Threads.named(name + "-worker"));
        storers = Executors.newFixedThreadPool(threads, Threads.named(name + "-store"));
        prefetchers = Executors.newScheduledThreadPool(PREFETCHERS, Threads.urgent(name + "-prefetch"));
        opened.push(() -> end(workers));
        opened.push(() -> end(storers));
        opened.push(() -> end(prefetchers));
        containers = ContainerStore.open(
                stores.containers(),
                new ContainerOptions(
                        config.compression(),
                        Volume.CONTAINER_BYTES,
                        MAX_CHUNKS_PER_CONTAINER,
                        MAX_OPEN_CONTAINERS,
                        plan.framesInFlight()),
                metadata::nextContainer,
                new CountedContainers(metadata.counts()),
                container -> index.frameTable(container),
                (container, table) -> index.cover(container, table),
                workers,
                plan.frameTables());
        opened.push(containers::close);
        metadata.counts().writingsFrom(containers::writing);
        index = EpochBinding.begin(metadata, stores.containers(), found, containers, index);
        tier = stores.tier()
                .open(
                        config.locations().ssd(),
                        metadata.epochs(),
                        config.tier(),
                        plan.tier(),
                        metadata.counts()::count,
                        name);
        opened.push(tier::close);
        if (tier.isConfigured()) {
            metadata.counts().listen(tier.demotion()::unreferenced);
        }
        disk = DiskQueue.of(config.restore().disk(), config.locations().data());
        ReentrantReadWriteLock changeLock = new ReentrantReadWriteLock();
        damaged = new DamagedFrames(containers, metadata.counts(), changeLock.readLock(), storers);
        containers.forEachLost(damaged::mark);
        restore = new RestoreEngine(
                new RestoreEngine.Sources(
                        metadata.recipes(),
                        config.pageBytes(),
                        containers,
                        disk,
                        tier.isConfigured()
                                ? new ReadTier(tier.distributor(), tier.promotion(), metadata.counts()::count)
                                : null),
                FrameCaches.lru(plan.frameCache()),
                config.restore().budget(plan.streams()),
                prefetchers,
                verification == Verification.FINGERPRINTS,
                damaged::report);
        recipePromotion = tier.isConfigured() ? promoteRecipes(config) : null;
        if (recipePromotion != null) {
            opened.push(recipePromotion::close);
        }
        dirtyBudget = new DirtyBudget(plan.dirty());
        VolumeDevices onDevices = stores.devices();
        devices = new DeviceSpaces(onDevices == null ? VolumeDevices.of(stores.containers()) : onDevices, metadata);
        capacity = new Capacity(
                config.capacityBytes(),
                config.maximumFullPercentage(),
                metadata.totals().logicalBytes());
        Chunker chunker = Chunkers.of(config.chunking());
        ingest = new IngestPipeline(
                chunker,
                new IngestPipeline.Stores(new Fingerprinter(workers, threads - 1), index, containers, metadata),
                (inode, offset, target, at, length) ->
                        restore.read(inode, offset, length, ByteBuffer.wrap(target, at, length)),
                changeLock.readLock(),
                damaged::contains,
                plan.parallelRuns(),
                tier.isConfigured() ? tier.promotion() : null);
        nodes = new NodeTable(metadata, capacity, (int) (plan.nodes() / NodeTable.NODE_BYTES), this::free);
        metadata.recipes().listen(nodes::noteData);
        writer = new FileWriter(ingest, metadata, nodes, capacity, dirtyBudget, storers, devices);
        committer = new Committer(
                metadata, containers, nodes, writer, devices, changeLock, plan.pendingMetadata() / 2, name);
        attributes = new ExtendedAttributes(metadata.namespace());
        NameView view = new NameView();
        tree = new Tree(metadata, nodes, writer, committer, stores.clock(), attributes, view);
        listing = new Listing(metadata.namespace(), nodes, view);
        reaper = new Reaper(metadata, committer, capacity, name);
        rebuilder = new IndexRebuilder(containers, index, metadata.counts(), name);
    }

    private void updateIndex() throws IOException {
        if (devices.hasRoomForIndex()) {
            rebuilder.start(INDEX_WAIT_MS);
        } else {
            log.info("the disk is full; the fingerprint index is brought up to date by a mount that finds space");
        }
    }

    private RecipePromotion promoteRecipes(VolumeConfig config) {
        RecipePromotion promotion = new RecipePromotion(
                tier.promotion(),
                tier.demotion(),
                new RecipePromotion.Sources(
                        metadata.recipes(),
                        config.pageBytes(),
                        containers,
                        metadata.counts()::count,
                        () -> restore.cacheMisses() + writtenBytes.sum()),
                PROMOTION_STEP_BYTES,
                plan.tier(),
                config.name());
        tier.promotion().listen(promotion::note);
        return promotion;
    }

    static VolumeParts open(VolumeConfig config, VolumeStores stores, Verification verification) throws IOException {
        MemoryPlan plan = MemoryPlan.of(config);
        MetadataStore metadata = MetadataStore.open(stores.metadata(), plan.metadataCache());
        if (metadata.header().pageBytes() != config.pageBytes()) {
            throw new PosixException(
                    PosixException.Reason.EINVAL,
                    "the volume was made with an io-chunk-size of "
                            + metadata.header().pageBytes() + " bytes, not " + config.pageBytes());
        }
        Deque<Closing.Step> opened = new ArrayDeque<>();
        VolumeParts parts;
        try {
            parts = new VolumeParts(config, stores, metadata, verification, opened);
        } catch (IOException | RuntimeException e) {
            Closing closing = new Closing();
            opened.forEach(closing::run);
            closing.suppressedBy(e);
            throw e;
        }
        try {
            if (parts.containers.hasLost()) {
                // The next crash must not make anybody refer to what this recovery missed.
                parts.committer.commit();
            }
            parts.reaper.resume(parts.nodes);
            parts.updateIndex();
            parts.committer.start();
            parts.tier.demoteUnreferenced();
            return parts;
        } catch (IOException | RuntimeException e) {
            try {
                parts.close();
            } catch (IOException | RuntimeException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    private void free(Node node) {
        Node.Contents contents;
        synchronized (node) {
            contents = node.contents;
        }
        if (contents != null) {
            writer.discard(node, contents);
        }
        reaper.free(node, nodes);
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

    Tree tree() {
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

    /** The queue before the device that has the containers. */
    DiskQueue disk() {
        return disk;
    }

    RestoreEngine restore() {
        return restore;
    }

    SsdTier tier() {
        return tier;
    }

    /** What the volume lies on, and what can still be stored there. */
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

    /** Bytes accepted and not in a container file yet, at most. */
    long underWayBytes() {
        return dirtyBudget.usedBytes() + plan.framesInFlight();
    }

    /** Stores, commits and closes all parts, the users of each before it; goes on past a failure and throws it at the end. */
    @Override
    public void close() throws IOException {
        Closing closing = new Closing();
        closing.run(committer::close);
        closing.run(reaper::close);
        closing.run(rebuilder::close);
        closing.run(committer::retryIfShort);
        closing.run(writer::storeEverything);
        closing.run(() -> end(storers));
        closing.run(damaged::recordAll);
        closing.run(committer::commit);
        closing.run(() -> end(prefetchers));
        if (recipePromotion != null) {
            closing.run(recipePromotion::close);
        }
        closing.run(tier::close);
        closing.run(containers::sealAll);
        closing.run(containers::close);
        closing.run(() -> end(workers));
        closing.run(() -> withFullDiskLogged(index::flush));
        closing.run(() -> withFullDiskLogged(index::close));
        closing.run(metadata::close);
        closing.finish();
    }

    /** What the index could not write is read from the containers at the next mount: no reason to call the closing a failure. */
    private static void withFullDiskLogged(Closing.Step ofIndex) throws IOException {
        try {
            ofIndex.run();
        } catch (IOException e) {
            if (!Device.isFull(e)) {
                throw e;
            }
            log.warn(
                    "the disk of the fingerprint index is full; what it lacks is indexed at the next mount: {}",
                    e.getMessage());
        }
    }

    private static void end(ExecutorService executor) throws IOException {
        executor.shutdown();
        try {
            if (!executor.awaitTermination(1, TimeUnit.MINUTES)) {
                throw new IOException("a task did not end within a minute");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while closing the volume", e);
        }
    }
}
