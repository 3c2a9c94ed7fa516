package org.opendedup.sar.restore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.Frame;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.metadata.RecipePage;
import org.opendedup.sar.metadata.RecipeStore;

/**
 * The read path: follows a file's recipe through the cache and the containers.
 *
 * <ol>
 *   <li>{@link RecipeStore}: the range asked for, and the window ahead of a sequential reader
 *   <li>{@link ContainerCache}: frames in memory
 *   <li>{@link ContainerStore#readFrames}: what is missing, by container, in the order of the file, neighbours in one read
 * </ol>
 *
 * Every frame read from the disk is checked (CRC), and every chunk taken from it against the recipe's four bytes of its
 * fingerprint. Safe for use by many threads.
 */
public final class RestoreEngine {
    /**
     * Frames that lie no further apart are read in one request and the bytes between thrown away: on a disk of 150 MB/s,
     * 256 KiB pass in 1.7 ms, less than half a turn (4.2 ms), which is the least that skipping them would cost.
     */
    private static final int MAX_GAP_BYTES = 256 << 10;
    /** A request up to this size wants one frame or two: looking for all of them first would gain nothing. */
    private static final int SMALL_REQUEST_BYTES = 16 << 10;

    private final RecipeStore recipes;
    private final ContainerStore containers;
    private final ContainerCache cache;
    private final ExecutorService prefetchers;
    private final DamageListener damage;
    private final boolean verifyFingerprints;
    private final int pageBytes;
    private final long windowBytes;
    /** Frames being read from the disk now, so that nobody reads one twice. Holds at most what readers are waiting for. */
    private final ConcurrentMap<Long, CompletableFuture<Frame>> inFlight = new ConcurrentHashMap<>();

    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();

    /**
     * @param prefetchers run reads ahead of sequential readers
     * @param windowBytes how far ahead, in bytes of the file
     * @param verifyFingerprints also hash every chunk read from the disk
     */
    public RestoreEngine(
            RecipeStore recipes,
            int pageBytes,
            ContainerStore containers,
            ContainerCache cache,
            ExecutorService prefetchers,
            long windowBytes,
            boolean verifyFingerprints,
            DamageListener damage) {
        this.recipes = recipes;
        this.pageBytes = pageBytes;
        this.containers = containers;
        this.cache = cache;
        this.prefetchers = prefetchers;
        this.windowBytes = windowBytes;
        this.verifyFingerprints = verifyFingerprints;
        this.damage = damage;
    }

    /** A reader of one file, which is read ahead for when it reads in sequence. */
    public ReadStream stream(long inode) {
        return new ReadStream(this, inode, windowBytes, prefetchers);
    }

    /** Frames found in memory. */
    public long cacheHits() {
        return hits.sum();
    }

    /** Frames read from the disk. */
    public long cacheMisses() {
        return misses.sum();
    }

    /**
     * Copies {@code length} bytes of a file from {@code offset} on into {@code target}; holes and what lies behind the recipe
     * are zeros.
     */
    public void read(long inode, long offset, int length, ByteBuffer target) throws IOException {
        if (length > SMALL_REQUEST_BYTES) {
            fetch(inode, offset, offset + length);
        }
        Frame frame = null;
        for (long at = offset, end = offset + length; at < end; ) {
            RecipePage page = recipes.page(inode, at / pageBytes);
            int inPage = (int) (at % pageBytes);
            int to = (int) Math.min(pageBytes, inPage + (end - at));
            frame = copyPage(inode, page, inPage, to, target, frame);
            at += to - inPage;
        }
    }

    /** Copies bytes {@code from} to {@code to} of a page; {@code recent} is a frame that was just used, and so is the result. */
    private @Nullable Frame copyPage(
            long inode, RecipePage page, int from, int to, ByteBuffer target, @Nullable Frame recent)
            throws IOException {
        Frame frame = recent;
        int at = from;
        for (int entry = page.entryAt(from); entry < page.count() && at < to; entry++) {
            int length = Math.min(to, page.end(entry)) - at;
            if (page.isZero(entry)) {
                putZeros(target, length);
            } else {
                long chunk = page.chunkId(entry);
                if (frame == null || !holds(frame, chunk)) {
                    frame = frame(inode, chunk);
                }
                copyChunk(inode, frame, page, entry, at - page.start(entry), length, target);
            }
            at += length;
        }
        putZeros(target, to - at);
        return frame;
    }

    private static boolean holds(Frame frame, long chunk) {
        int slot = ChunkId.slot(chunk) - frame.firstSlot();
        return frame.container() == ChunkId.container(chunk) && slot >= 0 && slot < frame.count();
    }

    private void copyChunk(long inode, Frame frame, RecipePage page, int entry, int skip, int length, ByteBuffer target)
            throws IOException {
        long chunk = page.chunkId(entry);
        int slot = ChunkId.slot(chunk);
        int offset = page.chunkOffset(entry) + skip;
        if (frame.check(slot) != page.check(entry) || offset + length > frame.length(slot)) {
            CorruptionException mismatch = new CorruptionException(
                    "chunk " + ChunkId.toString(chunk),
                    -1,
                    "fingerprint " + Integer.toHexString(page.check(entry)) + "… and " + (offset + length) + " bytes",
                    Integer.toHexString(frame.check(slot)) + "… and " + frame.length(slot));
            damage.damaged(inode, frame.container(), containers.frameOf(chunk), mismatch);
            throw mismatch;
        }
        target.put(frame.data(), frame.offset(slot) + offset, length);
    }

    private static void putZeros(ByteBuffer target, int length) {
        int left = length;
        while (left >= Long.BYTES) {
            target.putLong(0);
            left -= Long.BYTES;
        }
        while (left-- > 0) {
            target.put((byte) 0);
        }
    }

    private Frame frame(long inode, long chunk) throws IOException {
        long container = ChunkId.container(chunk);
        int number = frameOf(inode, chunk);
        Frame found = cache.get(container, number);
        if (found != null) {
            hits.increment();
            return found;
        }
        return load(inode, container, number);
    }

    private int frameOf(long inode, long chunk) throws IOException {
        try {
            return containers.frameOf(chunk);
        } catch (CorruptionException e) {
            damage.damaged(inode, ChunkId.container(chunk), -1, e);
            throw e;
        }
    }

    private Frame load(long inode, long container, int number) throws IOException {
        Long key = ChunkId.of(container, number);
        CompletableFuture<Frame> mine = new CompletableFuture<>();
        CompletableFuture<Frame> others = inFlight.putIfAbsent(key, mine);
        if (others != null) {
            return await(others);
        }
        try {
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
            inFlight.remove(key, mine);
        }
    }

    private static Frame await(CompletableFuture<Frame> frame) throws IOException {
        try {
            return frame.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for a disk read", e);
        } catch (ExecutionException e) {
            throw new IOException("a disk read failed: " + e.getMessage(), e);
        }
    }

    /**
     * Brings the frames that bytes {@code from} to {@code to} of a file need into the cache, in few disk reads. What cannot be
     * read is left out: whoever reads it will be told.
     */
    void fetch(long inode, long from, long to) throws IOException {
        long[] missing = missingFrames(inode, from, to);
        Arrays.sort(missing);
        int[] frames = new int[missing.length];
        for (int first = 0; first < missing.length; ) {
            long container = ChunkId.container(missing[first]);
            int count = 0;
            while (first + count < missing.length && ChunkId.container(missing[first + count]) == container) {
                frames[count] = ChunkId.slot(missing[first + count]);
                count++;
            }
            fetchFrames(inode, container, frames, count);
            first += count;
        }
    }

    /** The frames a range needs and the cache lacks, each once, as {@code ChunkId.of(container, frame)}. */
    private long[] missingFrames(long inode, long from, long to) throws IOException {
        long[] missing = new long[16];
        int count = 0;
        long lastKey = 0;
        for (long at = from; at < to; ) {
            RecipePage page = recipes.page(inode, at / pageBytes);
            int inPage = (int) (at % pageBytes);
            int end = (int) Math.min(pageBytes, inPage + (to - at));
            for (int entry = page.entryAt(inPage); entry < page.count() && page.start(entry) < end; entry++) {
                if (page.isZero(entry)) {
                    continue;
                }
                long chunk = page.chunkId(entry);
                long key = ChunkId.of(ChunkId.container(chunk), frameOf(inode, chunk));
                if (key != lastKey && cache.get(ChunkId.container(key), ChunkId.slot(key)) == null) {
                    missing = count == missing.length ? Arrays.copyOf(missing, count * 2) : missing;
                    missing[count++] = key;
                }
                lastKey = key;
            }
            at += end - inPage;
        }
        return Arrays.stream(missing, 0, count).distinct().toArray();
    }

    private void fetchFrames(long inode, long container, int[] frames, int count) throws IOException {
        Fetch fetch = new Fetch(inode, container);
        int own = 0;
        for (int i = 0; i < count; i++) {
            if (fetch.claim(frames[i])) {
                frames[own++] = frames[i];
            }
        }
        try {
            if (own > 0) {
                misses.add(own);
                containers.readFrames(container, frames, own, MAX_GAP_BYTES, fetch);
            }
        } finally {
            fetch.close();
        }
    }

    /** Frames of one container being read by this thread: others that want them wait for it. */
    private final class Fetch implements FrameConsumer, AutoCloseable {
        private final long inode;
        private final long container;
        private final ConcurrentMap<Integer, CompletableFuture<Frame>> claimed = new ConcurrentHashMap<>();

        Fetch(long inode, long container) {
            this.inode = inode;
            this.container = container;
        }

        boolean claim(int frame) {
            CompletableFuture<Frame> mine = new CompletableFuture<>();
            boolean free = inFlight.putIfAbsent(ChunkId.of(container, frame), mine) == null;
            if (free) {
                claimed.put(frame, mine);
            }
            return free;
        }

        @Override
        public boolean verifiesFingerprints() {
            return verifyFingerprints;
        }

        @Override
        public void frame(int number, Frame frame) {
            cache.put(container, number, frame);
            finish(number, frame, null);
        }

        @Override
        public void damaged(int number, IOException cause) {
            damage.damaged(inode, container, number, cause);
            finish(number, null, cause);
        }

        private void finish(int number, @Nullable Frame frame, @Nullable IOException cause) {
            CompletableFuture<Frame> mine = claimed.remove(number);
            if (mine == null) {
                return;
            }
            if (frame != null) {
                mine.complete(frame);
            } else {
                mine.completeExceptionally(cause == null ? new IOException("the read was given up") : cause);
            }
            inFlight.remove(ChunkId.of(container, number), mine);
        }

        @Override
        public void close() {
            for (Integer number : claimed.keySet()) {
                finish(number, null, null);
            }
        }
    }
}
