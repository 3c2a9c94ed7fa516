package org.opendedup.sar.remote;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileLayout;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.objects.ObjectStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The packs in the local folder of a volume in an object store, and the readers of all packs: they read a pack in the
 * folder as long as it is there, and then in the store, through the cache. Packs that the store has, and the cache, are
 * copies: what was used longest ago leaves the folder when they take more than they may. Safe for use by many threads.
 */
final class LocalPacks implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(LocalPacks.class);

    /** Part of the memory that is for the places of blocks in the cache. */
    private static final int PLACES_PART = 4;

    /** Time after which a file system has the space of a deleted file free, in nanoseconds: some take as long. */
    private static final long FREEING_NS = TimeUnit.SECONDS.toNanos(30);

    private final Directory staging;
    private final ObjectStore store;
    private final long cacheBytes;
    private final LongSupplier nanoClock;
    private final BlockCache cache;
    private final StoreReads reads;
    /** The packs in the folder, by name. */
    private final Map<String, StagedPack> staged = new ConcurrentHashMap<>();
    /** The packs that are open for reading. */
    private final Set<PackInput> inputs = ConcurrentHashMap.newKeySet();

    private final LongAdder folderReadBytes = new LongAdder();
    /** When copies made room on a disk with little space last; null: never. Used by {@link #evict} only. */
    private @Nullable Long madeSpaceNs;
    /** Whether nothing is removed from the folder any more. */
    private volatile boolean isClosing;

    /**
     * @param cacheBytes bound of the copies in the folder, in bytes
     * @param memoryBytes heap for ranges that are read from the store, and for the places of blocks
     * @param volume name of the volume, for the names of threads
     */
    LocalPacks(
            Directory staging,
            ObjectStore store,
            long cacheBytes,
            long memoryBytes,
            LongSupplier nanoClock,
            String volume)
            throws IOException {
        this.staging = staging;
        this.store = store;
        this.cacheBytes = cacheBytes;
        this.nanoClock = nanoClock;
        long placesBytes = memoryBytes / PLACES_PART;
        cache = BlockCache.open(staging, cacheBytes, placesBytes, this::makeRoomLater);
        reads = new StoreReads(store, cache, memoryBytes - placesBytes, nanoClock, volume);
    }

    /** Returns what reads packs in the store. */
    StoreReads reads() {
        return reads;
    }

    /** Returns the names of the packs in the folder, as they are at any time. */
    Set<String> names() {
        return Collections.unmodifiableSet(staged.keySet());
    }

    /** Returns the packs in the folder, as they are at any time. */
    Collection<StagedPack> all() {
        return Collections.unmodifiableCollection(staged.values());
    }

    /** Returns a pack in the folder; null if it is not there. */
    @Nullable
    StagedPack get(String name) {
        return staged.get(name);
    }

    /** Notes a pack in the folder. */
    void add(StagedPack pack) {
        staged.put(pack.name, pack);
    }

    /** Returns the bytes that were read in the folder, without the cache. */
    long readBytes() {
        return folderReadBytes.sum();
    }

    /**
     * Opens a pack for reading.
     *
     * @param pack the pack in the folder; null: it is read in the store
     * @throws NoSuchFileException if it is neither in the folder nor in the store
     */
    Input open(String name, @Nullable StagedPack pack) throws IOException {
        PackInput input = null;
        if (pack != null) {
            try {
                input = new PackInput(name, pack, staging.open(name));
            } catch (NoSuchFileException e) {
                log.debug("{} was removed from {} meanwhile", name, staging, e);
            }
        }
        if (input == null) {
            input = new PackInput(name, null, null);
            input.length(); // So that a pack that is missing is found missing here.
        }
        inputs.add(input);
        if (pack != null && pack.isDropped()) {
            // Perhaps before this input was among those that leave.
            input.leave(pack);
        }
        return input;
    }

    // --- making room

    /**
     * Removes from the folder what was used longest ago, and the store has, until the bound is kept and the disk has
     * space for others. Runs in the thread that writes to the cache, and may take minutes: much of the cache is written
     * anew if much of it was read again.
     */
    private void evict() {
        Deque<StagedPack> packs = storedPacks();
        long packBytes = packs.stream().mapToLong(pack -> pack.length).sum();
        long most = Math.min(cacheBytes, mostWithSpace(packBytes + cache.bytes()));
        while (!isClosing && (packBytes + cache.bytes() > most || cache.isTooLong())) {
            Long oldest = cache.oldestNanos();
            StagedPack pack = cache.isTooLong() ? null : packs.peek();
            if (pack != null && (oldest == null || pack.usedNs - oldest <= 0)) {
                packs.remove();
                packBytes -= pack.length;
                dropLogging(pack);
            } else if (!cache.evict()) {
                return;
            }
        }
    }

    /** Begins to make room in the background, if there are more copies than may be. */
    void makeRoomLater() {
        reads.afterCaching(this::evict);
    }

    /** Returns how many bytes copies may have, so that the disk has space for others. */
    private long mostWithSpace(long copies) {
        long most = BlockCache.mostOn(staging, copies);
        long now = nanoClock.getAsLong();
        Long made = madeSpaceNs;
        if (copies <= most || made != null && now - made < FREEING_NS) {
            return Long.MAX_VALUE;
        }
        madeSpaceNs = now;
        log.info("copies of what {} has make room in {}, because its disk has little space", store, staging);
        return most;
    }

    /** Returns the packs in the folder that the store has, {@linkplain StagedPack#byUse by their use}. */
    private Deque<StagedPack> storedPacks() {
        List<StagedPack> stored = new ArrayList<>();
        for (StagedPack pack : staged.values()) {
            synchronized (pack) {
                if (pack.stored) {
                    stored.add(pack);
                }
            }
        }
        return StagedPack.byUse(stored);
    }

    private void dropLogging(StagedPack pack) {
        synchronized (pack) {
            if (!pack.stored) {
                return; // It was found missing in the store.
            }
            pack.dropped = true;
        }
        try {
            drop(pack.name);
        } catch (IOException e) {
            log.warn("{} stays in {}: {}", pack.name, staging, e.getMessage());
        }
    }

    /** Removes a pack from the folder; its readers go on in the store. */
    void drop(String name) throws IOException {
        StagedPack pack = staged.remove(name);
        if (pack != null) {
            synchronized (pack) {
                pack.dropped = true;
                pack.notifyAll();
            }
            staging.delete(name);
            // An open file would keep its space.
            for (PackInput input : inputs) {
                input.leave(pack);
            }
        }
    }

    /** Forgets a pack whose file stays; its readers go on in the store. */
    void leave(StagedPack pack) {
        staged.remove(pack.name, pack);
        for (PackInput input : inputs) {
            try {
                input.leave(pack);
            } catch (IOException e) {
                log.debug("{} could not be closed", pack.name, e);
            }
        }
    }

    /** Removes nothing from the folder any more, ends the reads, and completes the cache. */
    @Override
    public void close() throws IOException {
        isClosing = true;
        reads.close();
    }

    /** A pack that is read in the folder; from the store, if the folder has it no more. */
    private final class PackInput implements Input {
        private final String name;
        private final long number;
        /** Held exclusively while the local file is closed. */
        private final ReadWriteLock using = new ReentrantReadWriteLock();

        private @Nullable StagedPack pack;
        private @Nullable Input local;

        PackInput(String name, @Nullable StagedPack pack, @Nullable Input local) {
            this.name = name;
            number = PackFormat.numberOf(name).orElseThrow();
            this.pack = pack;
            this.local = local;
        }

        @Override
        public void readFully(long offset, ByteBuffer target) throws IOException {
            if (!readLocal(offset, target)) {
                reads.readFully(name, number, offset, target);
            }
        }

        private boolean readLocal(long offset, ByteBuffer target) throws IOException {
            using.readLock().lock();
            try {
                Input file = local;
                StagedPack from = pack;
                if (file == null || from == null || from.isDistrusted(offset, offset + target.remaining())) {
                    return false;
                }
                from.usedNs = System.nanoTime();
                return readLocal(file, from, offset, target);
            } finally {
                using.readLock().unlock();
            }
        }

        /** Returns false if the local file cannot be read, and the store has the pack. */
        private boolean readLocal(Input file, StagedPack from, long offset, ByteBuffer target) throws IOException {
            int begin = target.position();
            int bytes = target.remaining();
            try {
                file.readFully(offset, target);
                folderReadBytes.add(bytes);
                return true;
            } catch (IOException e) {
                distrust(from, offset, bytes, e);
                target.position(begin);
                return false;
            }
        }

        /** Notes that a range of the local file cannot be read; throws the failure if the store does not have it. */
        private void distrust(StagedPack from, long offset, int bytes, IOException failure) throws IOException {
            synchronized (from) {
                if (!from.stored || offset + bytes > from.length) {
                    throw failure;
                }
                if (!NoAnswer.is(failure)) {
                    from.distrust(offset, offset + bytes);
                }
            }
            log.warn("{} in {} cannot be read, and is read from {}: {}", name, staging, store, failure.getMessage());
        }

        @Override
        public long length() throws IOException {
            using.readLock().lock();
            try {
                if (local != null) {
                    return local.length();
                }
            } finally {
                using.readLock().unlock();
            }
            return reads.length(name); // Without the lock: the store may take long.
        }

        @Override
        public FileLayout layout(long offset, long length) {
            using.readLock().lock();
            try {
                return local == null ? FileLayout.UNKNOWN : local.layout(offset, length);
            } finally {
                using.readLock().unlock();
            }
        }

        /** What the cache has was read from the store, so a scrub of what is there reads it. */
        @Override
        public void forgetCached(long offset, long length) {
            using.readLock().lock();
            try {
                if (local != null) {
                    local.forgetCached(offset, length);
                }
            } finally {
                using.readLock().unlock();
            }
        }

        /** Also returns true if nothing was forgotten: another reader may have forgotten what this one has read. */
        @Override
        public boolean forgetCopies(long offset, long length) throws IOException {
            // Also of a pack in the folder: a range that is distrusted there is read from the store, and cached.
            var unused = reads.forget(number, offset, length);
            StagedPack here = staged.get(name);
            if (here == null) {
                return true;
            }
            synchronized (here) {
                // The file stays: it may have other bytes that the store has lost.
                if (here.stored) {
                    here.distrust(offset, offset + length);
                }
                return here.stored;
            }
        }

        @Override
        public void expect(long offset, long length) {
            using.readLock().lock();
            try {
                if (local != null) {
                    local.expect(offset, length);
                } else {
                    reads.expect(name, number, offset, length);
                }
            } finally {
                using.readLock().unlock();
            }
        }

        /** Reads in the store from now on, if this reads a pack that left the folder. */
        void leave(StagedPack left) throws IOException {
            using.writeLock().lock();
            try {
                if (pack == left && local != null) {
                    local.close();
                    local = null;
                    pack = null;
                }
            } finally {
                using.writeLock().unlock();
            }
        }

        @Override
        public void close() throws IOException {
            inputs.remove(this);
            using.writeLock().lock();
            try {
                if (local != null) {
                    local.close();
                    local = null;
                }
            } finally {
                using.writeLock().unlock();
            }
        }
    }
}
