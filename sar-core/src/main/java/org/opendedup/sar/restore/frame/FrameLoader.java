package org.opendedup.sar.restore.frame;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.restore.frame.ReadLatencies.From;

/**
 * Brings frames into memory: from the cache, or from their containers. A single frame is read at once; many are read in
 * one {@link FrameTurn}. A frame that several threads want at the same time is read once. Safe for use by many threads.
 */
public final class FrameLoader {
    private final ContainerStore containers;
    private final FrameCache cache;
    private final DamageListener damage;
    private final boolean verifyFingerprints;
    private final FrameTurn.Shared shared;

    /**
     * Frames that a thread is reading from the disk, or is about to read, so that no frame is read twice. Holds at most
     * the frames that readers wait for.
     */
    private final ConcurrentMap<Long, CompletableFuture<Frame>> inFlight = new ConcurrentHashMap<>();

    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final ReadLatencies latencies = new ReadLatencies();

    /**
     * @param disk queue of the device that holds the containers; a call that reads many frames takes a turn
     * @param verifyFingerprints whether every chunk read from the disk is also hashed
     */
    public FrameLoader(
            ContainerStore containers,
            DiskQueue disk,
            FrameCache cache,
            boolean verifyFingerprints,
            DamageListener damage) {
        this.containers = containers;
        this.cache = cache;
        this.verifyFingerprints = verifyFingerprints;
        this.damage = damage;
        shared = new FrameTurn.Shared(containers, disk, cache, verifyFingerprints, damage, inFlight, misses);
    }

    /** Returns what makes the visits of one reader to the disk longer. */
    public LongVisits visits() {
        return new LongVisits(containers::entry);
    }

    /** Returns how long the reads of programs take. */
    public ReadLatencies latencies() {
        return latencies;
    }

    /** Number of frames found in memory. */
    public long hits() {
        return hits.sum();
    }

    /** Number of frames read from the disk. */
    public long misses() {
        return misses.sum();
    }

    /**
     * Returns the number of the frame that holds a chunk. A chunk that does not exist, or whose frame is removed, is
     * reported as damage of the file.
     */
    public int frameOf(long inode, long chunk) throws IOException {
        try {
            return containers.frameOf(chunk);
        } catch (CorruptionException e) {
            damage.damagedChunk(inode, chunk, -1, e);
            throw e;
        }
    }

    /** As {@link #frameOf}, but -1 if the frame table would have to be read. */
    int knownFrameOf(long chunk) throws IOException {
        return containers.knownFrameOf(chunk);
    }

    /** Number of slots of a container, including those whose chunk is removed. */
    public int slotsIn(long container) throws IOException {
        return containers.frameTable(container).slots();
    }

    /**
     * Number of chunks in the frames of a container that are not removed. Removed chunks in frames of which others stay
     * are counted: only the frame itself tells them.
     */
    public int chunksIn(long container) throws IOException {
        FrameTable table = containers.frameTable(container);
        int chunks = 0;
        for (int frame = 0; frame < table.frames(); frame++) {
            chunks += table.isRemoved(frame) ? 0 : table.slotCount(frame);
        }
        return chunks;
    }

    /** Bytes of all chunks in a container. */
    public long chunkBytesIn(long container) throws IOException {
        FrameTable table = containers.frameTable(container);
        long bytes = 0;
        for (int frame = 0; frame < table.frames(); frame++) {
            bytes += table.rawLength(frame);
        }
        return bytes;
    }

    /** Returns the frame if it is in memory. */
    @Nullable
    public Frame cached(long container, int number) {
        return cache.get(container, number);
    }

    /** Whether a thread is reading a frame, or is about to. */
    public boolean isBeingRead(long id) {
        return inFlight.containsKey(id);
    }

    /**
     * Whether the frames of a file of {@code bytes} bytes are to stay in the cache although the file is read in
     * sequence. Such a file leaves room for others, and may be read again. A larger one would evict everything else,
     * and its own frames as well.
     */
    public boolean keepsFile(long bytes) {
        return bytes <= cache.maxBytes() / 2;
    }

    /**
     * Returns a frame that another thread has read or is reading; waits for it. Not to be called with a turn at the
     * disk.
     *
     * @param id {@link FrameId} of the frame
     * @return null if no thread has read or is reading it, or it cannot be read, or whoever read it did not keep it
     */
    @Nullable
    public Frame fromOthers(long id) throws InterruptedIOException {
        CompletableFuture<Frame> reading = inFlight.get(id);
        if (reading == null) {
            return cached(FrameId.container(id), FrameId.number(id));
        }
        try {
            return reading.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for a disk read");
        } catch (CancellationException | ExecutionException e) {
            // The thread that reads the frame has reported the damage; a reader that needs the frame will get the
            // error.
            return null;
        }
    }

    /** Returns whether containers are in a store that answers many requests at the same time. */
    boolean answersAtOnce() {
        return containers.answersAtOnce();
    }

    /** See {@link ContainerStore#expect(long, long)}. */
    void expect(long container, long wantedBytes) {
        containers.expect(container, wantedBytes);
    }

    /** Counts frames that were {@link #cached} and are used. */
    public void noteHits(int frames) {
        hits.add(frames);
    }

    /** Returns the frame that holds a chunk, from memory or from its container. */
    public Frame frame(long inode, long chunk) throws IOException {
        long container = ChunkId.container(chunk);
        int number = frameOf(inode, chunk);
        Frame found = cache.get(container, number);
        // A lost chunk may have been found since: the frame is then in the container's next generation.
        if (found != null && !found.isLost(ChunkId.slot(chunk))) {
            hits.increment();
            return found;
        }
        return load(inode, container, number);
    }

    private Frame load(long inode, long container, int number) throws IOException {
        latencies.waits(From.DISK);
        Long id = FrameId.of(container, number);
        CompletableFuture<Frame> mine = new CompletableFuture<>();
        CompletableFuture<Frame> others = inFlight.putIfAbsent(id, mine);
        if (others != null) {
            Frame theirs = await(others);
            return theirs != null ? theirs : load(inode, container, number);
        }
        try (DiskQueue.SingleRead reading = shared.disk().singleRead()) {
            misses.increment();
            Frame frame = containers.frame(container, number, verifyFingerprints);
            cache.put(container, number, frame);
            mine.complete(frame);
            return frame;
        } catch (IOException e) {
            mine.completeExceptionally(e);
            damage.damaged(inode, container, number, e);
            throw e;
        } catch (RuntimeException | Error e) {
            mine.completeExceptionally(e);
            throw e;
        } finally {
            inFlight.remove(id, mine);
        }
    }

    /**
     * Waits for a frame that another thread reads; null if that thread abandoned the read or keeps no frames: retry.
     */
    private static @Nullable Frame await(CompletableFuture<Frame> frame) throws IOException {
        try {
            return frame.get();
        } catch (CancellationException givenUp) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for a disk read");
        } catch (ExecutionException e) {
            throw new IOException("a disk read failed: " + e.getMessage(), e);
        }
    }

    /**
     * Checks that a frame holds what a recipe refers to: the chunk with that fingerprint prefix, and at least
     * {@code bytes} bytes of it.
     *
     * @throws CorruptionException if not; it was reported to the damage listener
     */
    public void check(long inode, Frame frame, long chunk, int fingerprintPrefix, int bytes) throws IOException {
        if (holds(frame, chunk, fingerprintPrefix, bytes)) {
            return;
        }
        int slot = ChunkId.slot(chunk);
        if (frame.isLost(slot)) {
            CorruptionException lost = new CorruptionException(
                    "chunk " + ChunkId.toString(chunk),
                    -1,
                    "its " + bytes + " bytes",
                    "that they are lost: no copy was found when its container was healed");
            damage.damagedChunk(inode, chunk, -1, lost);
            throw lost;
        }
        CorruptionException mismatch = new CorruptionException(
                "chunk " + ChunkId.toString(chunk),
                -1,
                "fingerprint " + Integer.toHexString(fingerprintPrefix) + "… and " + bytes + " bytes",
                Integer.toHexString(frame.fingerprintPrefix(slot)) + "… and " + frame.length(slot));
        // A frame from which a chunk was removed is not damaged.
        int damaged = frame.holds(slot) ? containers.frameOf(chunk) : -1;
        damage.damagedChunk(inode, chunk, damaged, mismatch);
        throw mismatch;
    }

    static boolean holds(Frame frame, long chunk, int fingerprintPrefix, int bytes) {
        int slot = ChunkId.slot(chunk);
        return frame.holds(slot) && frame.fingerprintPrefix(slot) == fingerprintPrefix && bytes <= frame.length(slot);
    }

    /**
     * Waits until the caller is next at the disk, and returns its turn, to be closed.
     *
     * @param inode file whose damage is reported if a frame cannot be read
     */
    public FrameTurn next(Importance importance, long inode, FrameSink sink) {
        return FrameTurn.next(shared, importance, inode, sink);
    }

    /**
     * Brings frames for which a program waits into the cache, in one turn at the disk. Leaves out frames that another
     * thread has read or is reading, and frames that cannot be read: a caller that needs one waits for it, or gets the
     * error.
     *
     * @param frames {@link FrameId}s of frames that the cache lacks, each once, in ascending order
     */
    public void fetch(long inode, long[] frames, FrameSink sink) {
        latencies.waits(From.DISK);
        try (FrameTurn turn = next(Importance.REQUEST, inode, sink)) {
            turn.claim(frames);
            turn.begin();
            turn.read();
        }
    }
}
