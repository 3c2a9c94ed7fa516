package org.opendedup.sar.volume;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.collect.Pins;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.hot.FileExplainer;
import org.opendedup.sar.hot.FileExplanation;
import org.opendedup.sar.hot.FileExplanation.ChunkVisitor;
import org.opendedup.sar.ingest.ChunkRewriter;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.restore.bulk.ContainerOrderRestore;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.restore.fragmentation.FragmentationAnalyzer;
import org.opendedup.sar.restore.fragmentation.SparseContainer;
import org.opendedup.sar.restore.frame.StopCheck;
import org.opendedup.sar.volume.care.Maintenance;
import org.opendedup.sar.volume.clone.TreeClone;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.diff.SnapshotDiff;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.rewrite.Arranger;
import org.opendedup.sar.volume.rewrite.Defragmentation;
import org.opendedup.sar.volume.rewrite.Defragmenter;
import org.opendedup.sar.volume.rewrite.FileReferences;
import org.opendedup.sar.volume.rewrite.FileState;
import org.opendedup.sar.volume.rewrite.ReferenceVisitor;
import org.opendedup.sar.volume.rewrite.VolumeJoin;
import org.opendedup.sar.volume.send.SnapshotSend;
import org.opendedup.sar.volume.stream.StreamKeys;

/**
 * Maintenance operations on the stored files of a volume that go beyond POSIX: explaining, measuring and repairing how
 * files are spread, and restoring without FUSE. Safe for use by many threads; a file may be in use meanwhile.
 */
public final class VolumeMaintenance extends Maintenance {
    /** Lookahead window, as a multiple of the cache size. */
    public static final int WINDOWS_OF_CACHE = 8;

    /** Stream of the copies that arrangements store; no inode has this number. */
    private static final long ARRANGED = -1;

    private final VolumeConfig config;
    private final VolumeContext context;
    private final MetadataStore metadata;
    private final NodeTable nodes;
    private final Committer committer;
    private final VolumeJoin join;

    VolumeMaintenance(VolumeConfig config, VolumeContext context) {
        super(config, context.engineInUse(), true, context.writer()::storeEverythingLogging);
        this.config = config;
        this.context = context;
        metadata = context.metadata();
        nodes = context.nodes();
        committer = context.committer();
        join = new VolumeJoin(config, context);
        backups().holdBack(cut -> context.changes().holdDuring(cut::make));
    }

    /** Returns the exact pass, which joins what is stored more than once. */
    public VolumeJoin join() {
        return join;
    }

    /**
     * Explains what the SSD does for reads of a file. Includes only what is stored at the call. EISDIR, EINVAL.
     *
     * @param from as in {@link FileExplainer#explain}
     * @param rules rules by which the file's chunks are judged
     */
    public FileExplanation explain(long inode, long from, FileExplainer.Rules rules, ChunkVisitor visitor)
            throws IOException {
        return withRegularFile(inode, node -> {
            FileExplainer explainer = new FileExplainer(
                    metadata.recipes(), context.containers()::located, metadata.counts()::occurrences, rules);
            try (Pins.Pin pin = pinChunks()) {
                return explainer.explain(inode, from, visitor);
            }
        });
    }

    /**
     * Measures how a file's chunks are spread over containers. Includes everything written to the file before the call.
     * EISDIR, EINVAL.
     *
     * @param disk the disk for which read performance is predicted
     */
    public FileFragmentation fragmentation(long inode, DiskModel disk) throws IOException {
        return withRegularFile(inode, node -> {
            storeAndCommit(node);
            return analyze(analyzer(disk), node.id, StopCheck.NEVER);
        });
    }

    private FragmentationAnalyzer analyzer(DiskModel disk) {
        MemoryPlan memory = MemoryPlan.of(config);
        return new FragmentationAnalyzer(
                metadata.recipes(),
                context.containers()::located,
                disk,
                WINDOWS_OF_CACHE * memory.restoreCache(),
                config.restore().budget(memory.streams()).batchBytes());
    }

    /** Analyzes a file. No container that its recipe names is removed meanwhile. */
    private FileFragmentation analyze(FragmentationAnalyzer analyzer, long inode, StopCheck stop) throws IOException {
        try (Pins.Pin pin = pinChunks()) {
            return analyzer.analyze(inode, stop);
        }
    }

    /**
     * Stores and commits. Afterwards the file's chunks lie in frames that are written to container files, and so are in
     * the frame tables.
     */
    private void storeAndCommit(Node node) throws IOException {
        context.commits().store(node);
        context.fastTier().makeCurrent(node);
        committer.commit();
    }

    /**
     * Makes a fragmented file faster to read: stores those of its chunks that lie in sparse containers once more, next
     * to each other. The rewritten data is durable when this returns. The file may be in use meanwhile; a crash loses
     * nothing. EISDIR, EINVAL; EROFS: the file is in a snapshot.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it; what is rewritten stays
     */
    public Defragmentation defragment(long inode, DiskModel disk, Defragmentation.Limits limits, Progress progress)
            throws IOException {
        return withRegularFile(inode, node -> {
            if (!limits.dryRun()) {
                node.requireChangeable();
            }
            storeAndCommit(node);
            FragmentationAnalyzer analyzer = analyzer(disk);
            FileFragmentation before = analyze(analyzer, inode, () -> progress.at(Defragmentation.REWRITING, 0, 0));
            // A container that is still appended to may yet be filled by this file, and the copies may be written to
            // it.
            List<SparseContainer> candidates = analyzer.sparseContainers().stream()
                    .filter(container -> context.containers().isSealed(container.container()))
                    .toList();
            Set<Long> sparse = SparseContainer.worstOf(candidates, (long) (limits.share() * before.bytes()));
            long wanted = candidates.stream()
                    .filter(container -> sparse.contains(container.container()))
                    .mapToLong(SparseContainer::wantedBytes)
                    .sum();
            Defragmenter defragmenter = new Defragmenter(context, node, sparse);
            FileFragmentation after = before;
            if (!limits.dryRun() && !sparse.isEmpty()) {
                defragmenter.run(progress, wanted);
                storeAndCommit(node);
                after = analyze(analyzer(disk), inode, () -> progress.at(Defragmentation.REWRITING, wanted, wanted));
            }
            return defragmenter.result(before, after, wanted);
        });
    }

    /**
     * Arranges the chunks of the volume as its newest files want them, while it is in use: see {@link Arranger}. The
     * old copies become garbage, so call it before a collection. No collection runs meanwhile, and it ends early if
     * somebody waits for one, or the volume is being closed. What it moved is durable when this returns.
     *
     * @param disk the disk for which read times are predicted; null: the one that holds the containers
     * @throws java.io.InterruptedIOException if {@code progress} stopped it, or the volume was being closed before
     * @throws IOException if no collection may follow; the message says why
     */
    public ArrangementReport arrange(ArrangementLimits limits, @Nullable DiskModel disk, Progress progress)
            throws IOException {
        // It only makes garbage, which no collection would give back.
        context.collector().requireAllowed();
        return context.collector().withoutCollections(() -> progress.at("arranging", 0, 0), others -> {
            // A stream of its own: these chunks are not read together with those of a file that is being written.
            try (ChunkRewriter rewriter = context.ingest().rewriter(ARRANGED)) {
                return new Arranger(
                                context,
                                rewriter,
                                disk == null ? context.disk().model() : disk,
                                WINDOWS_OF_CACHE * MemoryPlan.of(config).restoreCache(),
                                limits,
                                progress,
                                others)
                        .run();
            }
        });
    }

    /** Returns what clones one file or folder within the volume. */
    public TreeClone treeClone(Progress progress) {
        return new TreeClone(context, progress);
    }

    /** Returns what compares snapshots. */
    public SnapshotDiff snapshotDiff() {
        return new SnapshotDiff(config, context);
    }

    /**
     * Returns what sends one snapshot.
     *
     * @param keys seal the stream; null if the volume is not encrypted
     */
    public SnapshotSend snapshotSend(@Nullable StreamKeys keys, Progress progress) {
        return new SnapshotSend(config, context, keys, progress);
    }

    /**
     * Visits the chunk references of a file as it is at one moment of this call, with all bytes that were written
     * before. Skips holes and runs of zeros. EISDIR, EINVAL.
     *
     * @return the state that these references describe; empty if they describe none, because the file was written
     *     meanwhile, or has bytes that cannot be stored now. The file can be read then
     * @throws org.opendedup.sar.common.CorruptionException if bytes of the file are damaged or unknown
     */
    public Optional<FileState> forEachReference(long inode, ReferenceVisitor visitor) throws IOException {
        context.writer().intents().checkReadable(inode);
        context.raws().checkReadable(inode);
        return withRegularFile(inode, node -> new FileReferences(context).visit(node, visitor));
    }

    /**
     * Pins the chunks of all files: those that recipes name after this returns can be read until the pin is closed,
     * even if the files change. Meanwhile no garbage is collected.
     */
    public Pins.Pin pinChunks() throws InterruptedIOException {
        return context.collector().pins().pin();
    }

    /**
     * Returns a restore that reads chunks of many files in the order of the containers, and verifies all of them by
     * their fingerprints. The caller has a pin, from before it looked for the references.
     */
    public ContainerOrderRestore restorer() {
        return context.restore().inContainerOrder();
    }

    private <T> T withRegularFile(long inode, NodeTable.Use<T> use) throws IOException {
        return nodes.with(inode, node -> {
            if (!node.isRegular()) {
                throw new PosixException(node.isDirectory() ? Reason.EISDIR : Reason.EINVAL, "inode " + inode);
            }
            return use.of(node);
        });
    }
}
