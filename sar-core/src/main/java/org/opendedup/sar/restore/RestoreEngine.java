package org.opendedup.sar.restore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.hot.promotion.HomeFrames;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.recipes.StreamLogs;
import org.opendedup.sar.restore.bulk.ContainerOrderRestore;
import org.opendedup.sar.restore.frame.BackgroundFrames;
import org.opendedup.sar.restore.frame.DamageListener;
import org.opendedup.sar.restore.frame.FrameCache;
import org.opendedup.sar.restore.frame.FrameLoader;
import org.opendedup.sar.restore.frame.HotSource;
import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.ReadLatencies;
import org.opendedup.sar.restore.frame.SplitReads;
import org.opendedup.sar.restore.lookahead.BatchSources;
import org.opendedup.sar.restore.lookahead.ReadAhead;
import org.opendedup.sar.restore.lookahead.ReadStreams;
import org.opendedup.sar.restore.lookahead.StreamBudget;
import org.opendedup.sar.restore.lookahead.StreamOrderReads;
import org.opendedup.sar.restore.lookahead.StreamStatus;
import org.opendedup.sar.restore.lookahead.TreeReads;

/**
 * The read path: reads the chunks that a file's recipe names, through the cache and the containers.
 *
 * <ol>
 *   <li>{@link RecipeStore}: the references of the range
 *   <li>{@link FrameCache}: frames in memory
 *   <li>{@link ContainerStore#readFrames}: missing frames, by container, in the order of the file, neighbours in one
 *       read
 * </ol>
 *
 * With an SSD, {@link SplitReads} serves the range. For a sequential reader the chunks were fetched ahead: see
 * {@link ReadAhead}. Every frame read from the disk is checked (CRC). Every chunk taken from a frame or from the SSD is
 * checked against the four bytes of its fingerprint in the recipe. Safe for use by many threads.
 */
public final class RestoreEngine {
    private final ContainerStore containers;
    private final DiskQueue disk;
    private final FrameLoader loader;
    private final FrameCache frames;
    private final ByteGauge memory = new ByteGauge();
    private final BatchSources batches;
    private final StreamBudget budget;
    private final ReadStreams streams;
    private final @Nullable TreeReads trees;
    private final RecipeReads reads;
    private final ChunkReads chunks;
    private final ScheduledExecutorService prefetchers;
    private final @Nullable HotSource hot;

    /**
     * The places that files are read from.
     *
     * @param names names of the files; null if nothing is to be read ahead across files
     * @param disk queue of the device that holds the containers
     * @param hot the SSD with copies of chunks; null if there is none
     */
    public record Sources(
            RecipeStore recipes,
            @Nullable Namespace names,
            ContainerStore containers,
            DiskQueue disk,
            @Nullable HotSource hot) {}

    /**
     * @param frames cache for scattered reads
     * @param budget memory of the sequential readers
     * @param prefetchers threads that fetch ahead of the sequential readers
     * @param verifyFingerprints whether every chunk read from the disk is also hashed; copies on an SSD are not used
     *     then, because their full fingerprints are not available
     */
    public RestoreEngine(
            Sources sources,
            FrameCache frames,
            StreamBudget budget,
            ScheduledExecutorService prefetchers,
            boolean verifyFingerprints,
            DamageListener damage) {
        RecipeStore recipes = sources.recipes();
        containers = sources.containers();
        disk = sources.disk();
        this.prefetchers = prefetchers;
        this.frames = frames;
        loader = new FrameLoader(containers, disk, frames, verifyFingerprints, damage);
        HotSource usable = verifyFingerprints ? null : sources.hot();
        hot = usable;
        this.budget = budget;
        batches = new BatchSources(loader, new PinnedChunks(memory, budget.mostHeldBytes()), usable);
        streams = new ReadStreams(recipes, batches, budget, prefetchers);
        trees = sources.names() == null ? null : new TreeReads(streams, sources.names(), recipes, prefetchers);
        SplitReads split = usable == null ? null : new SplitReads(usable, loader);
        reads = new RecipeReads(recipes, loader, split);
        chunks = new ChunkReads(loader, split, usable);
    }

    /**
     * Returns a reader of one file; it is read ahead when it reads in sequence, or goes through a tree.
     *
     * @param folder folder in which the file was found; 0 if that is not known
     */
    public ReadStream streamIn(long folder, long inode) {
        return new ReadStream(
                reads,
                new ReadAhead(streams, inode, ReadStream.MOST_POSITIONS),
                folder == 0 ? null : trees,
                folder,
                inode);
    }

    /** Returns a reader of one file that was found in no known folder. */
    public ReadStream stream(long inode) {
        return stream(inode, ReadStream.MOST_POSITIONS);
    }

    /** Returns a reader of one file that is read ahead at {@code mostPositions} positions at most. */
    ReadStream stream(long inode, int mostPositions) {
        return new ReadStream(reads, new ReadAhead(streams, inode, mostPositions), null, 0, inode);
    }

    /** Returns what reads single chunks, for a client that knows its files itself. */
    public ChunkReads chunks() {
        return chunks;
    }

    /** Returns what reads ahead for such a client, in the order in which the chunks were written. */
    public WriteOrderReads inWriteOrder(WriteOrderReads.NextContainer next) {
        return new WriteOrderReads(containers, loader, prefetchers, next, frames.maxBytes(), hot);
    }

    /**
     * Returns what reads ahead for such a client along the logs of its streams, with the memory of the sequential
     * readers of files: it has none.
     */
    public StreamOrderReads inStreamOrder(StreamLogs logs) {
        return new StreamOrderReads(new ReadStreams(logs, batches, budget, prefetchers), logs);
    }

    /** Returns a restore of many files at once. It takes turns at the disk with all other readers. */
    public ContainerOrderRestore inContainerOrder() {
        return new ContainerOrderRestore(containers, disk, true);
    }

    /** Returns frames for background work, which takes turns at the disk while readers leave it unused. */
    public HomeFrames inBackground() {
        return new BackgroundFrames(containers, disk, frames);
    }

    /** Returns what reads ahead across files; null if nothing is. */
    public @Nullable TreeReads trees() {
        return trees;
    }

    ReadStreams streams() {
        return streams;
    }

    RecipeReads reads() {
        return reads;
    }

    /** Returns the sequential readers that are read ahead now, in no particular order. */
    public List<StreamStatus> readers() {
        return streams.status();
    }

    /**
     * Returns the gauge of the memory that sequential readers use: chunks held for them, data read and not decoded yet,
     * and tables.
     */
    public ByteGauge memory() {
        return memory;
    }

    /** Returns how long the reads of programs take; who serves them notes where they begin and end. */
    public ReadLatencies latencies() {
        return loader.latencies();
    }

    /** Number of frames found in memory. */
    public long cacheHits() {
        return loader.hits();
    }

    /** Number of frames read from the disk. */
    public long cacheMisses() {
        return loader.misses();
    }

    /**
     * Copies {@code length} bytes of a file, from {@code offset} on, into {@code target}. Holes, and bytes after the
     * end of the recipe, are zeros.
     */
    public void read(long inode, long offset, int length, ByteBuffer target) throws IOException {
        reads.read(inode, offset, length, false, target);
    }
}
