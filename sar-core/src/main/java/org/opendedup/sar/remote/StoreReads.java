package org.opendedup.sar.remote;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.disk.StoreRequests;
import org.opendedup.sar.io.RequestCost;
import org.opendedup.sar.objects.ObjectStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads packs in the store, in blocks of {@value BlockCache#BLOCK_BYTES} bytes: from memory, from the
 * {@linkplain BlockCache cache}, and the rest by ranges of objects. A range that is {@linkplain #expect expected} is
 * read in the background, many at the same time, so that the latency of a store counts once and not for each request.
 * What was read stays in memory until it is in the cache, or was used. Safe for use by many threads.
 */
final class StoreReads implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(StoreReads.class);

    /** Most blocks of one request: a container, wherever it begins in a block. */
    private static final int MOST_BLOCKS = 20;

    private static final int BLOCK_BYTES = BlockCache.BLOCK_BYTES;
    private static final int BUFFER_BYTES = MOST_BLOCKS * BLOCK_BYTES;
    /** Of a shorter range; a small one has a buffer of its own. */
    private static final int HALF_BUFFER_BYTES = BUFFER_BYTES / 2;

    private static final int SMALL_BYTES = 2 * BLOCK_BYTES;

    /** Time after which what was expected and is not used makes room for others. */
    private static final long UNUSED_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Most packs whose objects are remembered. */
    private static final int MOST_PACKS = 4096;

    private final ObjectStore store;
    private final BlockCache cache;
    private final long memoryBytes;
    private final LongSupplier nanoClock;
    private final StoreRequests requests;
    private final LongAdder cacheReadBytes = new LongAdder();
    /** Whether the cache took what was read last. */
    private final AtomicBoolean isCaching = new AtomicBoolean(true);

    private final ThreadPoolExecutor lanes;
    private final ThreadPoolExecutor cacheWriter;

    /** The packs that were asked for. Guarded by itself. */
    private final Map<String, StoredPack> found = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, StoredPack> eldest) {
            return size() > MOST_PACKS;
        }
    };

    private volatile boolean isClosing;

    /** By {@link BlockCache#key}. Guarded by this, as are all fields below. */
    private final Map<Long, Fetch> byBlock = new HashMap<>();
    /** In the order in which they began. */
    private final Set<Fetch> all = new LinkedHashSet<>();
    /** Buffers that are used again: as new ones, most of them would be large objects for the collector. */
    private final Deque<byte[]> buffers = new ArrayDeque<>();

    private final Deque<byte[]> halfBuffers = new ArrayDeque<>();

    private long bytes;
    /** Bytes of the buffers that wait to be used again. */
    private long spareBytes;

    /** @param memoryBytes bound of what is in memory of ranges that are expected; what is waited for comes on top */
    StoreReads(ObjectStore store, BlockCache cache, long memoryBytes, LongSupplier nanoClock, String volume) {
        this(store, cache, memoryBytes, nanoClock, Threads.named(volume + "-fetch"), Threads.named(volume + "-cache"));
    }

    /**
     * As above.
     *
     * @param fetching makes the threads that read what is expected
     * @param caching makes the thread that writes to the cache
     */
    StoreReads(
            ObjectStore store,
            BlockCache cache,
            long memoryBytes,
            LongSupplier nanoClock,
            ThreadFactory fetching,
            ThreadFactory caching) {
        this.store = store;
        this.cache = cache;
        this.memoryBytes = memoryBytes;
        this.nanoClock = nanoClock;
        // In the memory is what is on its way, and a third of it that arrived.
        requests = new StoreRequests((int) (memoryBytes / BUFFER_BYTES * 3 / 4), nanoClock);
        lanes = threads(StoreRequests.LANES, fetching);
        cacheWriter = threads(1, caching);
    }

    private static ThreadPoolExecutor threads(int count, ThreadFactory factory) {
        ThreadPoolExecutor made =
                new ThreadPoolExecutor(count, count, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
        made.allowCoreThreadTimeOut(true);
        return made;
    }

    /** A range of blocks of one pack that is read by one request. Its state is guarded by the enclosing object. */
    private final class Fetch {
        private final String name;
        private final long firstKey;
        private final long from;
        private final int blocks;
        private final byte[] buffer;
        /** Whether the memory had room for it. One without room makes room first when its readers have it. */
        private final boolean hasRoom;

        private int length;
        /** Time until the store had answered; 0 if it has not. Used by the thread that runs this. */
        private long requestNanos;

        private boolean hasEnded;
        private @Nullable Exception failure;
        /** Blocks that were copied to a reader, at least in part. */
        private int used;
        /** Whether the cache has it, or does not take it. */
        private boolean isCached;
        /** Threads that use the buffer. */
        private int users;

        private boolean isDropped;
        private boolean isRecycled;
        private long endedNanos;

        Fetch(String name, long firstKey, long from, int blocks, byte[] buffer, boolean hasRoom) {
            this.name = name;
            this.firstKey = firstKey;
            this.from = from;
            this.blocks = blocks;
            this.buffer = buffer;
            this.hasRoom = hasRoom;
        }

        /** Heap that it takes, which may be more than its blocks. */
        long room() {
            return buffer.length;
        }

        void run() {
            Exception failed = null;
            int read = 0;
            boolean isComplete = false;
            try {
                if (isClosing) {
                    throw new IOException("the volume is being closed");
                }
                StoredPack pack = pack(name);
                try {
                    read = read(pack);
                } catch (NoSuchFileException | EOFException e) {
                    if (pack.isComplete()) {
                        throw e;
                    }
                    // Its tails were replaced by the whole pack.
                    forget(name);
                    pack = pack(name);
                    read = read(pack);
                }
                isComplete = pack.isComplete();
            } catch (IOException | RuntimeException e) {
                failed = e;
            } catch (Error e) {
                // Readers wait for this: they get a failure.
                failed = new IOException(name + " in " + StoreReads.this.store + " could not be read", e);
            }
            synchronized (StoreReads.this) {
                length = read;
                failure = failed;
                hasEnded = true;
                endedNanos = nanoClock.getAsLong();
                // What has no room does not wait for the cache: readers may be faster than its disk for a long time.
                isCached = failed != null || !isComplete || !hasRoom || !cache.isUsed();
                StoreReads.this.notifyAll();
                if (!isCached && offer()) {
                    users++;
                } else {
                    isCached = true;
                }
                leave(this);
            }
        }

        private int read(StoredPack pack) throws IOException {
            pack.requireWithin(from, 1);
            int count = (int) Math.min(blocks * BLOCK_BYTES, pack.length() - from);
            long begin = nanoClock.getAsLong();
            pack.read(store, from, ByteBuffer.wrap(buffer, 0, count));
            requestNanos = nanoClock.getAsLong() - begin;
            return count;
        }

        /** Runs in one of the lanes, whose number follows what is learned. */
        void runInLane() {
            requests.begin();
            run();
            if (requestNanos > 0) {
                requests.end(length, requestNanos, lanes.getQueue().size());
                setLanes(requests.cost().lanes());
            } else {
                requests.giveUp();
            }
        }

        /** Runs in the thread of a reader. */
        void runAtOnce() {
            run();
            if (requestNanos > 0) {
                requests.add(length, requestNanos);
            }
        }

        private boolean offer() {
            try {
                cacheWriter.execute(this::store);
                return true;
            } catch (RejectedExecutionException | Error e) {
                // The volume is being closed, or no thread can be started.
                log.debug("{} is not cached", name, e);
                return false;
            }
        }

        /** Writes what was read to the cache, unless it is forgotten meanwhile: bytes of it are wrong. */
        private void store() {
            try {
                for (int block = 0; block < blocks && block * BLOCK_BYTES < length && !isForgotten(); block++) {
                    int at = block * BLOCK_BYTES;
                    cache.put(firstKey + block, ByteBuffer.wrap(buffer, at, Math.min(BLOCK_BYTES, length - at)));
                }
                isCaching.set(true);
            } catch (IOException e) {
                // A full disk refuses each write. The log says so once.
                if (isCaching.getAndSet(false)) {
                    log.warn("what is read of {} is not cached: {}", store, e.getMessage());
                }
            } finally {
                synchronized (StoreReads.this) {
                    isCached = true;
                    for (int block = 0; block < blocks && isForgotten(); block++) {
                        cache.forget(firstKey + block);
                    }
                    leave(this);
                }
            }
        }

        private boolean isForgotten() {
            synchronized (StoreReads.this) {
                return isDropped;
            }
        }

        boolean isDroppable(long now) {
            return hasEnded
                    && users == 0
                    && isCached
                    && (failure != null
                            || !hasRoom
                            || used >= blocks
                            || cache.isUsed()
                            || now - endedNanos > UNUSED_NANOS);
        }
    }

    private synchronized void setLanes(int count) {
        if (count > lanes.getMaximumPoolSize()) {
            lanes.setMaximumPoolSize(count);
        }
        if (count != lanes.getCorePoolSize()) {
            lanes.setCorePoolSize(count);
            lanes.setMaximumPoolSize(count);
        }
    }

    /** Returns what a request costs, by what was learned up to now. */
    RequestCost cost() {
        return requests.cost();
    }

    private StoredPack pack(String name) throws IOException {
        synchronized (found) {
            StoredPack known = found.get(name);
            if (known != null) {
                return known;
            }
        }
        StoredPack asked = StoredPack.find(store, name);
        synchronized (found) {
            found.put(name, asked);
        }
        return asked;
    }

    /** Notes a complete pack that a list shows, so that opening it asks the store nothing. */
    void found(String name, long length) {
        synchronized (found) {
            found.put(name, StoredPack.complete(name, length));
        }
    }

    /** Asks the store whether it has a pack, whatever is remembered of it. */
    boolean isStored(String name) throws IOException {
        forget(name);
        try {
            return pack(name).length() >= 0;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private void forget(String name) {
        synchronized (found) {
            found.remove(name);
        }
    }

    /** Forgets what is here of a range: the next read of it is one of the store. Returns whether something was here. */
    synchronized boolean forget(long number, long offset, long length) {
        boolean wasHere = false;
        for (long block = offset / BLOCK_BYTES; block * BLOCK_BYTES < offset + length; block++) {
            long key = BlockCache.key(number, block);
            wasHere |= cache.forget(key);
            Fetch fetch = byBlock.get(key);
            if (fetch != null && fetch.hasEnded) {
                wasHere = true;
                drop(fetch);
            }
        }
        return wasHere;
    }

    long length(String name) throws IOException {
        return pack(name).length();
    }

    /** Fills {@code target} with the bytes of a pack from {@code offset} on. */
    void readFully(String name, long number, long offset, ByteBuffer target) throws IOException {
        for (long at = offset; target.hasRemaining(); ) {
            long block = at / BLOCK_BYTES;
            long key = BlockCache.key(number, block);
            Fetch fetch = use(key);
            int copied = fetch == null ? cache.read(key, (int) (at - block * BLOCK_BYTES), target) : 0;
            cacheReadBytes.add(copied);
            if (fetch == null && copied == 0) {
                long end = (at + target.remaining() + BLOCK_BYTES - 1) / BLOCK_BYTES;
                fetch = begin(name, number, block, end, true);
                if (fetch == null) {
                    continue; // Another thread has begun to read it.
                }
                fetch.runAtOnce();
            }
            at += fetch == null ? copied : copy(fetch, block, at, target);
        }
    }

    /**
     * Returns the fetch that has or reads a block, which is to be {@linkplain #copy copied} from; null if none does.
     */
    private synchronized @Nullable Fetch use(long key) {
        Fetch fetch = byBlock.get(key);
        if (fetch != null && fetch.failure != null) {
            // It failed before this reader came: the store may answer now.
            drop(fetch);
            return null;
        }
        if (fetch != null) {
            fetch.users++;
        }
        return fetch;
    }

    /** Copies what a fetch has of the target; waits for it. Returns how many bytes. */
    private int copy(Fetch fetch, long block, long at, ByteBuffer target) throws IOException {
        try {
            awaitEnd(fetch);
            if (fetch.failure != null) {
                throw failureOf(fetch);
            }
            int from = (int) (at - fetch.from);
            int count = Math.min(target.remaining(), fetch.length - from);
            if (count <= 0) {
                pack(fetch.name).requireWithin(at, target.remaining());
                throw new IOException(fetch.name + " in " + store + " was shorter when it was read than it is now");
            }
            target.put(fetch.buffer, from, count);
            long lastBlock = (at + count - 1) / BLOCK_BYTES;
            synchronized (this) {
                fetch.used += (int) (lastBlock - block + 1);
            }
            return count;
        } finally {
            synchronized (this) {
                leave(fetch);
            }
        }
    }

    /** Notes that a thread does not use a fetch any more. */
    private void leave(Fetch fetch) {
        fetch.users--;
        recycle(fetch);
    }

    private void awaitEnd(Fetch fetch) {
        Threads.await(this, () -> fetch.hasEnded);
    }

    /** Returns the failure of a fetch, which the next read tries anew. */
    private IOException failureOf(Fetch fetch) {
        synchronized (this) {
            drop(fetch);
        }
        Exception failure = fetch.failure;
        if (failure instanceof RuntimeException e) {
            throw e;
        }
        return failure instanceof IOException e ? e : new IOException(failure);
    }

    /**
     * Registers a fetch of blocks {@code from} to {@code end} (exclusive) at most: those before the first that is in
     * memory, or in the cache.
     *
     * @param isWaitedFor whether the caller runs the fetch and then {@linkplain #copy copies} from it: then there is
     *     room for it in any case
     * @return null if the first block is in memory, or there is no room
     */
    private synchronized @Nullable Fetch begin(String name, long number, long from, long end, boolean isWaitedFor) {
        int blocks = 0;
        while (blocks < MOST_BLOCKS && from + blocks < end) {
            if (isHere(BlockCache.key(number, from + blocks))) {
                break;
            }
            blocks++;
        }
        if (blocks == 0 && isWaitedFor && !byBlock.containsKey(BlockCache.key(number, from))) {
            blocks = 1; // The cache has lost it, or got it meanwhile.
        }
        int room = bufferBytes(blocks * BLOCK_BYTES);
        if (blocks == 0) {
            return null;
        }
        boolean hasRoom = makeRoom(room);
        if (!hasRoom && !isWaitedFor) {
            return null;
        }
        Fetch fetch = new Fetch(name, BlockCache.key(number, from), from * BLOCK_BYTES, blocks, buffer(room), hasRoom);
        fetch.users = isWaitedFor ? 2 : 1;
        all.add(fetch);
        bytes += room;
        for (int i = 0; i < blocks; i++) {
            byBlock.put(fetch.firstKey + i, fetch);
        }
        return fetch;
    }

    private static int bufferBytes(int needed) {
        if (needed <= SMALL_BYTES) {
            return needed;
        }
        return needed <= HALF_BUFFER_BYTES ? HALF_BUFFER_BYTES : BUFFER_BYTES;
    }

    /** Returns a buffer, a spare one if there is one. Spare ones of another length make room for a new one. */
    private byte[] buffer(int length) {
        byte[] spare =
                length == BUFFER_BYTES ? buffers.poll() : length == HALF_BUFFER_BYTES ? halfBuffers.poll() : null;
        if (spare != null) {
            spareBytes -= length;
            return spare;
        }
        if (bytes + length + spareBytes > memoryBytes) {
            buffers.clear();
            halfBuffers.clear();
            spareBytes = 0;
        }
        return new byte[length];
    }

    private void keep(byte[] buffer) {
        int length = buffer.length;
        long most = Math.min(memoryBytes / 2, memoryBytes - bytes);
        if (length > SMALL_BYTES && spareBytes + length <= most) {
            (length == BUFFER_BYTES ? buffers : halfBuffers).add(buffer);
            spareBytes += length;
        }
    }

    private synchronized boolean isHere(long key) {
        return byBlock.containsKey(key) || cache.has(key);
    }

    /** Drops what is not needed in memory any more, until there is room; returns whether there is. */
    private boolean makeRoom(long room) {
        long now = nanoClock.getAsLong();
        List<Fetch> droppable = new ArrayList<>();
        long left = bytes;
        for (Iterator<Fetch> each = all.iterator(); each.hasNext() && left + room > memoryBytes; ) {
            Fetch fetch = each.next();
            if (fetch.isDroppable(now)) {
                droppable.add(fetch);
                left -= fetch.room();
            }
        }
        droppable.forEach(this::drop);
        return bytes + room <= memoryBytes;
    }

    private void drop(Fetch fetch) {
        if (!fetch.isDropped) {
            fetch.isDropped = true;
            all.remove(fetch);
            bytes -= fetch.room();
            for (int i = 0; i < fetch.blocks; i++) {
                byBlock.remove(fetch.firstKey + i, fetch);
            }
        }
        recycle(fetch);
    }

    private void recycle(Fetch fetch) {
        if (fetch.isDropped && fetch.users == 0 && !fetch.isRecycled) {
            fetch.isRecycled = true;
            keep(fetch.buffer);
        }
    }

    /** Begins to read a range of a pack in the background, as far as there is room in memory. */
    void expect(String name, long number, long offset, long length) {
        long end = (offset + length + BLOCK_BYTES - 1) / BLOCK_BYTES;
        for (long block = offset / BLOCK_BYTES; block < end; ) {
            if (isHere(BlockCache.key(number, block))) {
                block++;
                continue;
            }
            Fetch fetch = begin(name, number, block, end, false);
            if (fetch == null) {
                return;
            }
            block += fetch.blocks;
            try {
                lanes.execute(fetch::runInLane);
            } catch (RejectedExecutionException | Error e) {
                // The volume is being closed, or no thread can be started. Readers may wait for this already.
                log.debug("{} is not read in the background", name, e);
                fetch.run();
            }
        }
    }

    /** Has the thread that writes to the cache do something, after what it has to write; not when this is closed. */
    void afterCaching(Runnable task) {
        try {
            cacheWriter.execute(task);
        } catch (RejectedExecutionException | Error e) {
            log.debug("the volume is being closed, or no thread can be started", e);
        }
    }

    /** Returns the bytes that readers found in the cache. */
    long cacheReadBytes() {
        return cacheReadBytes.sum();
    }

    /** Ends the reads, and completes the cache. */
    @Override
    public void close() throws IOException {
        isClosing = true; // What was only expected is not waited for.
        Closing closing = new Closing();
        closing.run(() -> Threads.end(lanes));
        closing.run(() -> Threads.end(cacheWriter));
        closing.run(cache::close);
        closing.finish();
    }
}
