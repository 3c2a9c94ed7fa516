package org.opendedup.sar.volume.parts;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.InstantSource;
import java.util.Deque;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunker;
import org.opendedup.sar.chunk.Chunkers;
import org.opendedup.sar.chunk.Fingerprinter;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.promotion.BackgroundPromotion;
import org.opendedup.sar.hot.promotion.FileReload;
import org.opendedup.sar.hot.promotion.PromotionSources;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.ingest.IngestPipeline;
import org.opendedup.sar.ingest.IngestStores;
import org.opendedup.sar.io.TimeLimit;
import org.opendedup.sar.join.LossSample;
import org.opendedup.sar.join.SampledIndex;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Rollback;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.metadata.record.ReplicaRecord;
import org.opendedup.sar.metadata.record.RollbackRecord;
import org.opendedup.sar.raw.AbsentRawFolder;
import org.opendedup.sar.raw.RawFolder;
import org.opendedup.sar.raw.SealedRawFolder;
import org.opendedup.sar.restore.RestoreEngine;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.commit.WriteStop;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.engine.ChunkEngine;
import org.opendedup.sar.volume.engine.DamagedFrames;
import org.opendedup.sar.volume.engine.EngineInUse;
import org.opendedup.sar.volume.engine.IndexRebuilder;
import org.opendedup.sar.volume.engine.SpaceCollector;
import org.opendedup.sar.volume.names.DirectoryTree;
import org.opendedup.sar.volume.names.Listing;
import org.opendedup.sar.volume.names.NameView;
import org.opendedup.sar.volume.names.NamedFiles;
import org.opendedup.sar.volume.node.AnswerLimit;
import org.opendedup.sar.volume.node.Capacity;
import org.opendedup.sar.volume.node.DirtyBudget;
import org.opendedup.sar.volume.node.ExtendedAttributes;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.node.RawPlace;
import org.opendedup.sar.volume.node.RawSpace;
import org.opendedup.sar.volume.node.RawTable;
import org.opendedup.sar.volume.raw.BackgroundThrottle;
import org.opendedup.sar.volume.raw.FastTier;
import org.opendedup.sar.volume.raw.FastTierBinding;
import org.opendedup.sar.volume.raw.FolderOrder;
import org.opendedup.sar.volume.raw.Placements;
import org.opendedup.sar.volume.raw.RawChanges;
import org.opendedup.sar.volume.raw.RawCopier;
import org.opendedup.sar.volume.raw.RawFiles;
import org.opendedup.sar.volume.raw.RawMover;
import org.opendedup.sar.volume.raw.Reaper;
import org.opendedup.sar.volume.snapshot.VolumeRollback;
import org.opendedup.sar.volume.snapshot.VolumeSnapshots;
import org.opendedup.sar.volume.store.DeviceSpaces;
import org.opendedup.sar.volume.store.VolumeStores;
import org.opendedup.sar.volume.write.FileCommits;
import org.opendedup.sar.volume.write.FileWriter;
import org.opendedup.sar.volume.write.IntentLog;
import org.opendedup.sar.volume.write.IntentReplay;
import org.opendedup.sar.volume.write.UnsavedChanges;
import org.opendedup.sar.volume.write.UnsavedChangesException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of an open volume. Creates them, connects them, and assigns their threads and memory. The only class that
 * knows all of them.
 */
public final class VolumeContext implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(VolumeContext.class);
    /** Bytes that background promotion reads at once. */
    private static final int PROMOTION_STEP_BYTES = 8 << 20;

    private final ChunkEngine engine;
    private final MetadataStore metadata;
    private final HotChunks hot;
    private final RestoreEngine restore;
    private final DeviceSpaces devices;
    private final @Nullable BackgroundPromotion promotion;
    private final NodeTable nodes;
    private final FileWriter writer;
    private final Committer committer;
    private final FileCommits commits;
    private final ExtendedAttributes attributes;
    private final DirectoryTree tree;
    private final Listing listing;
    private final Reaper reaper;
    private final IngestPipeline ingest;
    private final SpaceCollector collector;
    private final MetadataBackups backups;
    private final LossSample lossSample;
    private final Capacity capacity;
    private final DirtyBudget dirtyBudget;
    private final RawFiles raws;
    private final RawChanges changes;
    private final RawMover mover;
    private final FastTier fastTier;
    private final VolumeSnapshots snapshots;
    private final int mostOpenFiles;
    private final @Nullable VolumeKeys keys;

    private final LongAdder readBytes = new LongAdder();
    private final LongAdder writtenBytes = new LongAdder();
    private final LongAdder openings = new LongAdder();

    /** @param opened as of {@link ChunkEngine#ChunkEngine} */
    private VolumeContext(
            VolumeConfig config,
            VolumeStores stores,
            MetadataStore metadata,
            Verification verification,
            Deque<Closing.Step> opened)
            throws IOException {
        MemoryPlan plan = MemoryPlan.of(config);
        engine = new ChunkEngine(config, stores, metadata, verification, plan, opened);
        String name = config.name();
        keys = config.keys();
        this.metadata = metadata;
        hot = engine.hot();
        restore = engine.restore();
        devices = engine.devices();
        if (hot.isConfigured()) {
            metadata.counts().listen(hot.demotion()::unreferenced);
        }
        promotion = hot.isConfigured() ? promoteInBackground(config) : null;
        if (promotion != null) {
            opened.push(promotion::close);
        }
        mostOpenFiles = (int) Math.min(Integer.MAX_VALUE, plan.openFiles() / OpenFile.BYTES);
        dirtyBudget = new DirtyBudget(plan.dirty());
        capacity = new Capacity(
                config.capacityBytes(),
                config.maximumFullPercentage(),
                metadata.totals().logicalBytes(),
                metadata.quotas());
        metadata.quotas().useClock(engine.clock());
        Chunker chunker = Chunkers.of(config.chunking(), config.keys());
        lossSample = new LossSample(engine.clock().millis());
        ChunkIndex sampled = new SampledIndex(engine.index(), lossSample);
        Fingerprinter fingerprinter = new Fingerprinter(engine.workers(), config.writeThreads() - 1);
        ingest = new IngestPipeline(
                chunker,
                new IngestStores(fingerprinter, sampled, engine.containers(), metadata, engine.uses()),
                (inode, offset, target, at, length) ->
                        restore.read(inode, offset, length, ByteBuffer.wrap(target, at, length)),
                engine.changes(),
                engine.damaged()::contains,
                plan.parallelRuns(),
                hot.isConfigured() ? hot.promotion() : null);
        RawTable rawTable = new RawTable();
        AnswerLimit answers = new AnswerLimit(
                name,
                stores.raw() == null ? RawFolder.ANSWER_LIMIT : stores.raw().answerLimit());
        RawFolder rawFolder = openRaw(config, stores, metadata, answers);
        opened.push(rawFolder::close);
        RawPlace rawPlace = new RawPlace(
                rawFolder, answers, new RawSpace(capacity, config.raw().capacityBytes()));
        rawTable.load(metadata, rawPlace);
        nodes = new NodeTable(metadata, rawTable, capacity, (int) (plan.nodes() / NodeTable.NODE_BYTES), this::free);
        metadata.recipes().listen(nodes::noteData);
        WriteStop stop = new WriteStop(stores.areReadOnly());
        IntentLog intents = new IntentLog(metadata, nodes, engine.changes(), devices, plan.intentLog());
        writer = new FileWriter(
                ingest, metadata, nodes, capacity, dirtyBudget, engine.storers(), devices, stop, intents);
        NamedFiles named = new NamedFiles(nodes, writer);
        committer = engine.committer(named, stop);
        commits = new FileCommits(committer, writer);
        attributes = new ExtendedAttributes(metadata.namespace());
        NameView view = new NameView();
        Placements placements = new Placements(config.raw(), nodes, attributes);
        raws = new RawFiles(
                metadata,
                rawTable,
                rawPlace,
                nodes,
                placements,
                committer,
                plan.raws() / RawTable.FILE_BYTES,
                stores.raw() == null ? 0 : stores.raw().mostOpenFiles());
        changes = new RawChanges(metadata, rawTable, rawPlace, raws, nodes, placements, committer);
        writer.keepChangesOn(changes);
        committer.beforeEachPeriodic(raws::syncIfAnswering);
        reaper = new Reaper(metadata, committer, capacity, raws::forget, name);
        backups = engine.backups(committer);
        collector = engine.collector(sampled, committer, backups, this::freed);
        tree = new DirectoryTree(
                metadata,
                nodes,
                writer,
                committer,
                named,
                engine.clock(),
                attributes,
                view,
                placements,
                raws,
                collector);
        listing = new Listing(metadata.namespace(), nodes, view);
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
        mover = new RawMover(raws, copier, nodes, committer, order, throttle, engine.disk(), config.raw(), name);
        fastTier = new FastTier(
                metadata, nodes, committer, config, raws, copier, mover, placements, writer, reload(), history());
        snapshots = new VolumeSnapshots(metadata, commits, nodes, fastTier, engine.clock(), config);
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
            return answers.open(() -> {
                RawFolder opened = SealedRawFolder.of(opener.open(volume), config.keys());
                try {
                    FastTierBinding.refuseOlder(metadata.epochs(), opened);
                    return opened;
                } catch (IOException e) {
                    opened.close();
                    throw e;
                }
            });
        } catch (IOException e) {
            try (RecordCursor<RawRecord> records = metadata.raws().all()) {
                if (config.raw().isEnabled() || records.next()) {
                    log.error("the files that lie on the fast tier cannot be used: {}", e.getMessage());
                }
            }
            return new AbsentRawFolder(String.valueOf(e.getMessage()));
        }
    }

    private RawFiles.History history() {
        if (engine.ownsPacks()) {
            return RawFiles.History.SAME;
        }
        return engine.wasRestored() ? RawFiles.History.OLDER : RawFiles.History.UNKNOWN;
    }

    /**
     * Deletes the backing files that a crash left, and makes those again that it lost. The volume can be used without
     * the fast tier if that does not answer, and without this if it fails.
     */
    private void cleanFastTier() {
        if (raws.isAbsent()) {
            return;
        }
        try {
            raws.limit().call("marking the raw files", () -> {
                FastTierBinding.begin(metadata.epochs(), raws.folder());
                return true;
            });
            raws.settle(false, history());
            // In a restored history, files without a record are of one that is not known otherwise, and must not be
            // deleted.
            if (engine.ownsPacks()) {
                long swept = raws.sweep();
                if (swept > 0) {
                    log.info("{} files of the fast tier belong to no file of the volume and were deleted", swept);
                }
            }
        } catch (TimeLimit.ExceededException e) {
            raws.folder().close();
            raws.setFolder(new AbsentRawFolder(String.valueOf(e.getMessage())));
        } catch (IOException e) {
            log.warn("what a crash left on the fast tier cannot be removed before the next mount: {}", e.getMessage());
        }
    }

    /**
     * Records that bytes {@code from} to {@code to} (exclusive) of a file got their references by a copy, which did not
     * read the bytes themselves. Background promotion handles them.
     */
    public void noteCopied(long inode, long from, long to) {
        if (promotion != null) {
            promotion.note(inode);
            promotion.noteLate(inode, from, to);
        }
    }

    /** Records that a file in chunks was opened: the policy may want it on the SSD as a whole. */
    public void noteOpened(long inode, long size) {
        if (promotion != null) {
            promotion.noteOpened(inode, size);
        }
    }

    private @Nullable FileReload reload() {
        return promotion == null ? null : promotion.reload();
    }

    private BackgroundPromotion promoteInBackground(VolumeConfig config) {
        BackgroundPromotion background = new BackgroundPromotion(
                hot.promotion(),
                hot.demotion(),
                new PromotionSources(
                        metadata.recipes(),
                        engine.containers(),
                        restore.inBackground(),
                        metadata.counts()::occurrences,
                        this::diskUse),
                PROMOTION_STEP_BYTES,
                engine.plan().hot(),
                hot::holds,
                config.name());
        hot.promotion().listen(background::note);
        hot.promotion().listenUnfinished(background::noteLate);
        return background;
    }

    /** Returns a number that changes whenever a program opens, reads or writes a file and the daemon is asked. */
    public long programUse() {
        return openings.sum() + readBytes.sum() + writtenBytes.sum();
    }

    /** Returns a number that changes whenever a read misses the cache or a write is made. */
    private long diskUse() {
        return restore.cacheMisses() + writtenBytes.sum();
    }

    /** Opens a volume at its locations. Gives up its ballasts if opening it finds a device full. */
    public static VolumeContext open(VolumeConfig config, Verification verification) throws IOException {
        return open(config, verification, Progress.NONE);
    }

    /** @param rollback sees how far a rollback is that the opening finishes, and may stop it */
    public static VolumeContext open(VolumeConfig config, Verification verification, Progress rollback)
            throws IOException {
        return ChunkEngine.openAt(config, stores -> open(config, stores, verification, Purpose.USE, rollback));
    }

    /** Opens a volume at its locations to receive a snapshot, or to go on where that was interrupted. */
    public static VolumeContext openToReceive(VolumeConfig config) throws IOException {
        return ChunkEngine.openAt(config, stores -> open(config, stores, Verification.CHECKSUMS, Purpose.RECEIVING));
    }

    public static VolumeContext open(VolumeConfig config, VolumeStores stores, Verification verification)
            throws IOException {
        return open(config, stores, verification, Purpose.USE);
    }

    /** What a volume is opened for. */
    public enum Purpose {
        /** To read and change its files. */
        USE,
        /** To receive a snapshot, and to go on where that was interrupted. */
        RECEIVING
    }

    /** Opens a volume as {@link #open(VolumeConfig, VolumeStores, Verification)} does. EBUSY if it must be received. */
    public static VolumeContext open(
            VolumeConfig config, VolumeStores stores, Verification verification, Purpose purpose) throws IOException {
        return open(config, stores, verification, purpose, Progress.NONE);
    }

    private static VolumeContext open(
            VolumeConfig config, VolumeStores stores, Verification verification, Purpose purpose, Progress rollback)
            throws IOException {
        MemoryPlan plan = MemoryPlan.of(config);
        MetadataStore metadata =
                MetadataStore.open(KeyValueStores.sealed(stores.metadata(), config.keys()), plan.metadataCache());
        metadata.header().require(MetadataHeader.Contents.FILES);
        if (metadata.header().pageBytes() != config.pageBytes()) {
            throw new PosixException(
                    PosixException.Reason.EINVAL,
                    "the volume was made with an io-chunk-size of "
                            + metadata.header().pageBytes() + " bytes, not " + config.pageBytes());
        }
        if (purpose == Purpose.USE) {
            requireReceived(config, metadata.replica());
        }
        finishRollback(metadata, stores.areReadOnly(), plan.pendingMetadata() / 2, rollback);
        VolumeContext context =
                ChunkEngine.construct(opened -> new VolumeContext(config, stores, metadata, verification, opened));
        if (stores.areReadOnly()) {
            context.engine.lookAtPacks();
            return context;
        }
        try {
            new IntentReplay(metadata, context.nodes, context.writer, context.dirtyBudget, context.capacity).run();
            context.committer.commitRecovery();
            // Before anything removes a record: what has none now has none that is durable.
            context.cleanFastTier();
            context.reaper.resume(context.nodes);
            context.engine.updateIndex();
            context.snapshots.noteHeld();
            context.snapshots.freeDeleted();
            context.mover.start();
            context.committer.start();
            context.hot.demoteUnreferenced();
            return context;
        } catch (IOException | RuntimeException e) {
            Closing.after(e, context::close);
            throw e;
        }
    }

    private static void requireReceived(VolumeConfig config, @Nullable ReplicaRecord replica) throws PosixException {
        if (replica != null && replica.underWay() != null) {
            throw new PosixException(
                    PosixException.Reason.EBUSY,
                    "a snapshot is received into the volume, and is not complete: its files are those of two moments."
                            + " Send the snapshot again, to 'sdfscli " + config.name() + " receive', which goes on"
                            + " where it was; or give it up with 'sdfscli " + config.name() + " receive --abort'");
        }
    }

    /**
     * Finishes a rollback before any part of the volume reads the state of its files.
     *
     * @throws NoSpaceException if the device of the metadata is full; the next opening goes on
     * @throws IOException if nothing may be changed, or it fails otherwise
     */
    private static void finishRollback(MetadataStore metadata, boolean isReadOnly, long stepBytes, Progress progress)
            throws IOException {
        RollbackRecord unfinished = metadata.rollback();
        if (unfinished == null) {
            return;
        }
        String what = "the rollback to snapshot " + metadata.snapshots().textOf(unfinished.snapshot());
        if (isReadOnly) {
            throw new IOException(what + " is not finished");
        }
        try {
            Rollback.finish(metadata, unfinished, stepBytes, progress);
        } catch (NoSpaceException e) {
            throw new NoSpaceException(
                    what + " needs more space for the metadata: free some, and mount again to go on, or go back to the"
                            + " snapshot that was made before by another rollback with --discard: "
                            + e.getMessage());
        } catch (IOException e) {
            log.error("{} is not finished; the next opening goes on: {}", what, e.getMessage());
            throw e;
        }
    }

    /** Returns what is done once everything is freed that only removed files and deleted snapshots had. */
    private CompletableFuture<Void> freed() {
        return CompletableFuture.allOf(reaper.freed(), snapshots.freed());
    }

    private void free(Node node) {
        writer.discard(node);
        reaper.free(node, nodes);
    }

    public int mostOpenFiles() {
        return mostOpenFiles;
    }

    public InstantSource clock() {
        return engine.clock();
    }

    public ChunkEngine engine() {
        return engine;
    }

    public MetadataStore metadata() {
        return metadata;
    }

    public ContainerStore containers() {
        return engine.containers();
    }

    public NodeTable nodes() {
        return nodes;
    }

    public FileWriter writer() {
        return writer;
    }

    public Committer committer() {
        return committer;
    }

    /** Returns what makes the bytes of files part of the next commit. */
    public FileCommits commits() {
        return commits;
    }

    public ExtendedAttributes attributes() {
        return attributes;
    }

    public DirectoryTree tree() {
        return tree;
    }

    public Listing listing() {
        return listing;
    }

    public Reaper reaper() {
        return reaper;
    }

    public IngestPipeline ingest() {
        return ingest;
    }

    /** The queue of the device that holds the containers. */
    public DiskQueue disk() {
        return engine.disk();
    }

    public RestoreEngine restore() {
        return restore;
    }

    public HotChunks hot() {
        return hot;
    }

    /** Returns the fingerprint index; one that keeps nothing if that of the volume cannot be used. */
    public ChunkIndex index() {
        return engine.index();
    }

    /** Returns what estimates how much is stored more than once. */
    public LossSample lossSample() {
        return lossSample;
    }

    /** Returns what keeps changed bytes on the fast tier. */
    public RawChanges changes() {
        return changes;
    }

    public RawFiles raws() {
        return raws;
    }

    public RawMover mover() {
        return mover;
    }

    public VolumeSnapshots snapshots() {
        return snapshots;
    }

    /** Returns what asks for a rollback of the volume to one of its snapshots. */
    public VolumeRollback rollback() {
        return new VolumeRollback(metadata, snapshots, commits);
    }

    public FastTier fastTier() {
        return fastTier;
    }

    public DeviceSpaces devices() {
        return devices;
    }

    public Capacity capacity() {
        return capacity;
    }

    public DirtyBudget dirtyBudget() {
        return dirtyBudget;
    }

    public LongAdder readBytes() {
        return readBytes;
    }

    public LongAdder writtenBytes() {
        return writtenBytes;
    }

    /** Counts how often files were opened. */
    public LongAdder openings() {
        return openings;
    }

    /** Returns what of the volume does not depend on files. */
    public EngineInUse engineInUse() {
        return new EngineInUse(engine, committer, collector, backups);
    }

    /** Returns the keys of an encrypted volume; null if it is not encrypted. */
    public @Nullable VolumeKeys keys() {
        return keys;
    }

    /** Returns the configured memory budget, in bytes. */
    long memoryBudgetBytes() {
        return engine.plan().budget();
    }

    public DamagedFrames damaged() {
        return engine.damaged();
    }

    public SpaceCollector collector() {
        return collector;
    }

    /** Returns the maximum number of bytes that are accepted and not in a container file yet. */
    public long underWayBytes() {
        return dirtyBudget.usedBytes() + engine.plan().framesInFlight();
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
        if (committer.isReadOnly()) {
            closeWithoutStoring(closing);
            return;
        }
        closing.run(snapshots::close);
        closing.run(raws::sync);
        closing.run(committer::close);
        closing.run(reaper::close);
        closing.run(engine.rebuilder()::close);
        closing.run(committer::resume);
        closing.run(committer::retryIfShort);
        closing.run(writer::storeEverything);
        engine.commitLast(committer, closing);
        UnsavedChanges unsaved = UnsavedChanges.of(writer, nodes, metadata);
        closeStores(closing);
        if (!unsaved.isNone()) {
            UnsavedChangesException lost = new UnsavedChangesException(unsaved);
            closing.causeOf(lost);
            throw lost;
        }
        closing.finish();
    }

    private void closeWithoutStoring(Closing closing) throws IOException {
        closing.run(snapshots::close);
        closing.run(committer::close);
        closing.run(reaper::close);
        engine.endStoring(closing);
        closeStores(closing);
        closing.finish();
    }

    private void closeStores(Closing closing) {
        if (promotion != null) {
            closing.run(promotion::close);
        }
        engine.close(closing);
        closing.run(raws.folder()::close);
    }

    public IndexRebuilder rebuilder() {
        return engine.rebuilder();
    }
}
