package org.opendedup.sar.remote;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileLayout;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.io.RequestCost;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.StorePrices;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A data location whose packs are in an object store. What is written is durable in a local folder, as in any data
 * location; a complete pack follows into the store as one object that never changes. Packs that the store has stay in
 * the folder too, as far as its bound allows; others are read from the store. Files that are no packs are in the folder
 * only.
 *
 * <p>{@link #mark} and {@link #await} tie packs to the metadata in the store: those of a commit may be put when the
 * bytes that they refer to are there. A pack that is deleted stays until {@link #shipped} says that the metadata in the
 * store do not name it, and as long as a registered reader elsewhere may need it. A crash forgets such deletions: then
 * a later collection finds packs without a container. Safe for use by many threads.
 */
public final class RemoteDirectory implements Directory, Closeable {
    private static final Logger log = LoggerFactory.getLogger(RemoteDirectory.class);

    /** Length from which on a pack gets no further container, in bytes: so an object has 64 MiB at most. */
    private static final long TAKES_BYTES = 56L << 20;

    /** Time after which a thread that waits for an upload looks whether uploads go on, in milliseconds. */
    private static final long LOOK_MS = 500;

    /** Files of the cache that are open at most. */
    public static final int MOST_OPEN_FILES = BlockCache.MOST_SEGMENTS;

    /** Least bytes that may wait for the store before a new pack does: a few packs that are put at the same time. */
    private static final long LEAST_MISSING_BYTES = 256 << 20;

    /** Time for which a new pack waits for the store before the volume is full, in nanoseconds. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Part of the memory that is for the places of blocks in the cache. */
    private static final int PLACES_PART = 4;

    /** Time after which a file system has the space of a deleted file free, in nanoseconds: some take as long. */
    private static final long FREEING_NS = TimeUnit.SECONDS.toNanos(30);

    /**
     * Bounds of what is here of packs that the store has.
     *
     * @param cacheBytes bytes of files in the folder: of packs that were written here, and of blocks that were read
     * @param memoryBytes heap for ranges that are read from the store, and for the places of blocks
     */
    public record Bounds(long cacheBytes, long memoryBytes) {}

    private final Directory staging;
    private final ObjectStore store;
    private final long cacheBytes;
    private final LongSupplier nanoClock;
    private final BlockCache cache;
    private final StoreReads reads;
    private final Uploads uploads;
    private final Readers readers;
    private final Deletions deletions;
    /** The packs in the folder, by name. */
    private final Map<String, StagedPack> staged = new ConcurrentHashMap<>();
    /** Of these, those that the store does not have whole. */
    private final Set<StagedPack> following = ConcurrentHashMap.newKeySet();
    /** The packs that are open for reading. */
    private final Set<PackInput> inputs = ConcurrentHashMap.newKeySet();

    private final CommitMarks marks;

    private volatile RewritingCost cost = new RewritingCost(StorePrices.NONE);
    private final PackNumbers numbers;
    private final LongAdder folderReadBytes = new LongAdder();
    /** Told when a pack is lost. */
    private volatile Runnable lossListener = () -> {};
    /** When copies made room on a disk with little space last; null: never. Used by {@link #evict} only. */
    private @Nullable Long madeSpaceNs;
    /** Whether nothing is removed from the folder any more. */
    private volatile boolean isClosing;

    private RemoteDirectory(Directory staging, ObjectStore store, Bounds bounds, LongSupplier nanoClock, String volume)
            throws IOException {
        this.staging = staging;
        this.store = store;
        this.cacheBytes = bounds.cacheBytes;
        this.nanoClock = nanoClock;
        long placesBytes = bounds.memoryBytes / PLACES_PART;
        cache = BlockCache.open(staging, cacheBytes, placesBytes, this::evictLater);
        reads = new StoreReads(store, cache, bounds.memoryBytes - placesBytes, nanoClock, volume);
        uploads = new Uploads(staging, store, volume, this::packIsStored, this::isBeingDeleted, nanoClock, this::lose);
        readers = new Readers(store, nanoClock);
        deletions = new Deletions(store, readers, nanoClock, volume, this::drop);
        marks = new CommitMarks(following, deletions);
        numbers = new PackNumbers(store, staged.keySet(), name -> deletions.has(name) || exists(name));
    }

    /**
     * Opens the packs of a volume. Those in the folder that are not in the store are put there in the background.
     *
     * @param staging the local folder
     * @param bounds of the local copies
     * @param volume name of the volume, for the names of threads
     */
    public static RemoteDirectory open(Directory staging, ObjectStore store, Bounds bounds, String volume)
            throws IOException {
        return open(staging, store, bounds, System::nanoTime, volume);
    }

    static RemoteDirectory open(
            Directory staging, ObjectStore store, Bounds bounds, LongSupplier nanoClock, String volume)
            throws IOException {
        RemoteDirectory directory = new RemoteDirectory(staging, store, bounds, nanoClock, volume);
        try {
            directory.findStaged();
        } catch (IOException | RuntimeException e) {
            directory.close();
            throw e;
        }
        return directory;
    }

    private void findStaged() throws IOException {
        for (String name : staging.list()) {
            if (isPack(name)) {
                StagedPack pack = new StagedPack(name);
                // Nothing is appended to it any more. A crash may have cut it; a mark counts what is durable now.
                pack.length = staging.length(name);
                pack.forced = pack.length;
                pack.complete = true;
                staged.put(name, pack);
            }
        }
        if (staged.isEmpty()) {
            return;
        }
        for (ObjectPage.Entry object : store.listAll(PackNames.PACKS, "")) {
            StagedPack pack = staged.get(object.name().substring(PackNames.PACKS.length()));
            if (pack != null) {
                pack.stored = true;
                if (pack.length != object.length()) {
                    // Put before a crash cut the file; the object has all that was ever durable.
                    drop(pack.name);
                }
            }
        }
        dropOlderThanTails();
        following.addAll(staged.values());
        following.forEach(uploads::add);
    }

    /**
     * Removes packs of which the store has more in tails: the folder is an earlier state of itself, such as a disk that
     * was brought back from a copy. As a whole pack it would take the place of the tails.
     */
    private void dropOlderThanTails() throws IOException {
        Set<String> withTails = new TreeSet<>();
        for (ObjectPage.Entry tail : store.listAll(PackNames.TAILS, "")) {
            withTails.add(PackNames.packOf(tail.name()));
        }
        for (String name : withTails) {
            StagedPack pack = staged.get(name);
            if (pack != null && !pack.stored && lengthInTails(name) > pack.length) {
                log.warn("{} in {} is older than what {} has of it, and is removed", name, staging, store);
                drop(name);
            }
        }
    }

    private long lengthInTails(String name) throws IOException {
        try {
            return StoredPack.find(store, name).length();
        } catch (NoSuchFileException e) {
            log.warn("{} has lost the first part of {}, which is in {}", store, name, staging, e);
            return 0;
        }
    }

    private static long numberOf(String pack) {
        return PackFormat.numberOf(pack).orElseThrow();
    }

    private static boolean isPack(String name) {
        return PackFormat.numberOf(name).isPresent();
    }

    // --- what commits need

    /**
     * Returns a mark of what is durable here now, greater than those before. Called after the containers of a commit
     * are forced.
     */
    public long mark() {
        return marks.next();
    }

    /**
     * Returns when the store has all bytes that were durable at a mark. Puts what is missing of packs that are being
     * written.
     *
     * @param mark not shipped
     * @throws IOException if some cannot be put now
     */
    public void await(long mark) throws IOException {
        for (Map.Entry<StagedPack, Long> part : marks.needed(mark).entrySet()) {
            StagedPack pack = part.getKey();
            if (!pack.has(part.getValue())) {
                uploads.putTail(pack);
            }
            awaitUpload(pack, part.getValue());
        }
    }

    /** Returns how many packs the marks have, each as often as it is in one. */
    int markedPacks() {
        return marks.packs();
    }

    /** Returns whether the store has a complete pack, after the next try to put it. */
    private boolean drain(StagedPack pack) {
        try {
            synchronized (pack) {
                if (!pack.complete || pack.dropped) {
                    return true;
                }
            }
            awaitUpload(pack, Long.MAX_VALUE);
            return true;
        } catch (IOException e) {
            log.debug("the volume is closed before {} is in {}", pack.name, store, e);
            return false;
        }
    }

    /** Waits until an upload that ends from now on succeeds or fails. */
    private void awaitUpload(StagedPack pack, long bytes) throws IOException {
        synchronized (pack) {
            int failures = pack.failures;
            // One that was dropped meanwhile: the metadata in the store do not name it any more.
            while (!pack.has(bytes) && !pack.dropped) {
                IOException failure = pack.failure;
                if (failure != null && pack.failures > failures) {
                    throw new IOException(pack.name + " is not in " + store + " yet: " + failure.getMessage(), failure);
                }
                if (uploads.isClosing()) {
                    throw new IOException(pack.name + " is not in " + store + ": the volume is being closed");
                }
                try {
                    pack.wait(LOOK_MS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IOException("interrupted while " + pack.name + " was put into " + store, e);
                }
            }
        }
    }

    /** Notes that the metadata in the store have all commits up to a mark. */
    public void shipped(long mark) {
        marks.shipped(mark);
        deletions.shipped(mark);
    }

    /**
     * Begins to delete from the store what nobody needs any more.
     *
     * @param ownership fails if the volume has another owner; asked before each deletion
     */
    public void startDeletions(Closing.Step ownership) {
        deletions.start(ownership);
    }

    /** Deletes from the store what nobody needs any more; else done each minute. */
    void deleteDue() throws IOException {
        deletions.run();
    }

    /**
     * Returns whether a reader elsewhere is copying the metadata, of which nothing may be removed then. Asks the store.
     */
    public boolean areMetadataCopied() throws IOException {
        return readers.look().values().stream().anyMatch(ReaderNames.Parts::isCopying);
    }

    /** Returns the bytes that the store does not have yet. */
    public long missingBytes() {
        return following.stream().mapToLong(StagedPack::missing).sum();
    }

    public PackStatistics statistics() {
        long waiting = 0;
        long oldestNs = 0;
        long folder = 0;
        long nowNs = System.nanoTime();
        for (StagedPack pack : staged.values()) {
            synchronized (pack) {
                if (pack.stored) {
                    folder += pack.length;
                } else if (pack.missing() > 0) {
                    waiting += pack.missing();
                    oldestNs = Math.max(oldestNs, nowNs - pack.missingSinceNs);
                }
            }
        }
        RequestCost cost = reads.cost();
        return new PackStatistics(
                waiting,
                TimeUnit.NANOSECONDS.toMillis(oldestNs),
                folder,
                folderReadBytes.sum(),
                reads.cacheReadBytes(),
                readers.registered(),
                deletions.count(),
                cost.latencyNanos() / 1e6,
                cost.laneBytesPerSecond() / 1e6,
                cost.lanes(),
                cost.isMeasured() ? "measured" : "assumed");
    }

    /** Returns why the last pack could not be put; null if it could. */
    public @Nullable IOException failure() {
        return uploads.failure();
    }

    // --- packs in the folder

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

    private void evictLater() {
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
    private void drop(String name) throws IOException {
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

    /**
     * Gives up the local file of a pack that the store does not have whole, because it cannot be opened: what tails
     * have is read there, and the rest is missing. The file is not deleted; the next opening finds it, if it can.
     */
    private void lose(StagedPack pack) {
        synchronized (pack) {
            pack.lost = true;
            pack.dropped = true;
            pack.notifyAll();
        }
        staged.remove(pack.name, pack);
        following.remove(pack);
        for (PackInput input : inputs) {
            try {
                input.leave(pack);
            } catch (IOException e) {
                log.debug("{} could not be closed", pack.name, e);
            }
        }
        lossListener.run();
    }

    @Override
    public void whenLost(Runnable toTell) {
        lossListener = toTell;
    }

    // --- the directory

    @Override
    public Output create(String name) throws IOException {
        if (!isPack(name)) {
            return staging.create(name);
        }
        if (numbers.isTaken(name)) {
            // Another owner may have put it, or it has left the folder. Its number is never used again.
            throw new FileAlreadyExistsException(this + "/" + name);
        }
        awaitRoom();
        evictLater(); // Copies may have the space that it needs.
        Output made = staging.create(name);
        numbers.add(name);
        StagedPack pack = new StagedPack(name);
        staged.put(name, pack);
        following.add(pack);
        return new StagedOutput(made, pack, () -> uploads.add(pack));
    }

    private boolean isBeingDeleted(String name) {
        return deletions.has(name);
    }

    private void packIsStored() {
        evictLater();
        synchronized (uploads) {
            uploads.notifyAll();
        }
    }

    /**
     * Waits until what the store does not have is within the bound of the cache: a writer that is faster than the store
     * gets its pace.
     *
     * @throws NoSpaceException if it takes too long; writers try again, as on a full disk
     */
    private void awaitRoom() throws IOException {
        long most = Math.max(cacheBytes, LEAST_MISSING_BYTES);
        long began = System.nanoTime();
        boolean isInterrupted = false;
        synchronized (uploads) {
            while (missingBytes() > most) {
                if (isInterrupted || uploads.isClosing() || System.nanoTime() - began > PATIENCE_NANOS) {
                    throw new NoSpaceException("the local cache is full of packs that are not in " + store
                            + " yet; the last failure: " + uploads.failure());
                }
                try {
                    uploads.wait(LOOK_MS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    isInterrupted = true;
                }
            }
        }
    }

    @Override
    public Input open(String name) throws IOException {
        if (!isPack(name)) {
            return staging.open(name);
        }
        StagedPack pack = present(name);
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

    @Override
    public Input openLasting(String name) throws IOException {
        if (!isCopy(name)) {
            return open(name);
        }
        StoredPack pack = StoredPack.find(store, name);
        return new Input() {
            @Override
            public void readFully(long offset, ByteBuffer target) throws IOException {
                pack.read(store, offset, target);
            }

            @Override
            public long length() {
                return pack.length();
            }

            @Override
            public void close() {
                // Nothing is open.
            }
        };
    }

    /** Returns whether the store has the pack, as far as is known: reads are then of the folder, or of the cache. */
    @Override
    public boolean isCopy(String name) {
        if (!isPack(name) || deletions.has(name)) {
            return false;
        }
        StagedPack pack = staged.get(name);
        if (pack == null) {
            return true;
        }
        synchronized (pack) {
            return pack.stored;
        }
    }

    @Override
    public void storeMissing() throws IOException {
        Set<String> objects = Set.copyOf(store.listAll(PackNames.PACKS, "").stream()
                .map(ObjectPage.Entry::name)
                .toList());
        for (StagedPack pack : staged.values()) {
            String object = PackNames.pack(pack.name);
            if (isCopy(pack.name) && !objects.contains(object) && isMissing(object)) {
                synchronized (pack) {
                    if (pack.dropped) {
                        continue; // It leaves the folder at this moment.
                    }
                    pack.stored = false;
                    pack.inTails = 0;
                    pack.marked = 0;
                }
                log.error("{} is missing in {}, and is put again from the local folder", object, store);
                following.add(pack);
                uploads.add(pack);
            }
        }
    }

    private boolean isMissing(String object) throws IOException {
        try {
            return store.status(object).length() < 0;
        } catch (NoSuchFileException e) {
            return true;
        }
    }

    /** Returns a pack in the folder; null if it is not there. */
    private @Nullable StagedPack present(String name) throws NoSuchFileException {
        if (deletions.has(name)) {
            throw new NoSuchFileException(this + "/" + name);
        }
        return staged.get(name);
    }

    @Override
    public boolean exists(String name) throws IOException {
        if (!isPack(name)) {
            return staging.exists(name);
        }
        try {
            return present(name) != null || reads.isStored(name);
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    @Override
    public long length(String name) throws IOException {
        if (!isPack(name)) {
            return staging.length(name);
        }
        try (Input input = open(name)) {
            return input.length();
        }
    }

    @Override
    public void rename(String from, String to) throws IOException {
        if (isPack(from) || isPack(to)) {
            throw new IOException("a pack keeps its name: " + from);
        }
        staging.rename(from, to);
    }

    @Override
    public void delete(String name) throws IOException {
        if (!isPack(name)) {
            staging.delete(name);
        } else if (present(name) == null && !exists(name) && tailBytes(name) == 0) {
            throw new NoSuchFileException(this + "/" + name);
        } else {
            marks.delete(name);
        }
    }

    /** Also of a pack without its first tail: the others are listed, and go when nothing needs them. */
    @Override
    public long allocatedBytes(String name) throws IOException {
        try {
            return length(name);
        } catch (NoSuchFileException e) {
            long bytes = isPack(name) && !deletions.has(name) ? tailBytes(name) : 0;
            if (bytes == 0) {
                throw e;
            }
            return bytes;
        }
    }

    private long tailBytes(String name) throws IOException {
        return StoredPack.tails(store, name).stream()
                .mapToLong(ObjectPage.Entry::length)
                .sum();
    }

    @Override
    public List<String> list() throws IOException {
        return listFrom("");
    }

    @Override
    public List<String> listFrom(String from) throws IOException {
        Set<String> names = new TreeSet<>(staging.listFrom(from));
        // Tails first: a pack that takes their place meanwhile is in the second list.
        for (ObjectPage.Entry tail : ObjectLists.from(store, PackNames.TAILS, from)) {
            names.add(PackNames.packOf(tail.name()));
        }
        for (ObjectPage.Entry object : ObjectLists.from(store, PackNames.PACKS, from)) {
            String name = object.name().substring(PackNames.PACKS.length());
            names.add(name);
            reads.found(name, object.length());
        }
        names.removeIf(name -> name.isEmpty() || deletions.has(name) || BlockCache.isSegment(name));
        return List.copyOf(names);
    }

    @Override
    public List<String> names() throws IOException {
        return staging.names();
    }

    @Override
    public void trim(String name) throws IOException {
        if (!isPack(name) || present(name) != null) {
            staging.trim(name);
        }
    }

    /** Decides by what the store charges from now on. */
    public void charge(StorePrices prices) {
        cost = new RewritingCost(prices);
    }

    @Override
    public double leastDeadShare(String name) throws IOException {
        RewritingCost charged = cost;
        if (charged.needsAge()) {
            Optional<Instant> made = store.madeAt(PackNames.pack(name));
            if (made.isPresent() && charged.isChargedLonger(Duration.between(made.get(), Instant.now()))) {
                return Double.MAX_VALUE;
            }
        }
        return charged.leastDeadShare();
    }

    @Override
    public void sync() throws IOException {
        staging.sync();
    }

    @Override
    public void checkName(String name) throws IOException {
        staging.checkName(name);
    }

    @Override
    public long usableBytes() throws IOException {
        return staging.usableBytes();
    }

    @Override
    public Optional<RequestCost> requestCost() {
        return Optional.of(reads.cost());
    }

    @Override
    public boolean takesMore(String name) {
        StagedPack pack = staged.get(name);
        if (pack == null) {
            return true;
        }
        synchronized (pack) {
            return pack.length < TAKES_BYTES;
        }
    }

    /** Puts and deletes nothing any more, because another owner has the volume. */
    public void stop() {
        uploads.stop();
        deletions.stop();
    }

    /**
     * Waits for the packs that are complete and not in the store, unless it does not take them, and ends the uploads.
     * What is not in the store then is put after the next opening with this folder.
     */
    @Override
    public void close() throws IOException {
        for (StagedPack pack : following) {
            if (!drain(pack)) {
                log.warn("packs with {} bytes are not in {} yet; the next mount here puts them", missingBytes(), store);
                break;
            }
        }
        isClosing = true;
        Closing closing = new Closing();
        closing.run(reads::close);
        closing.run(uploads::close);
        closing.run(deletions::close);
        closing.finish();
    }

    @Override
    public String toString() {
        return store + "/" + PackNames.PACKS.substring(0, PackNames.PACKS.length() - 1);
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
            number = numberOf(name);
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

        @FunctionalInterface
        private interface LocalUse {
            void use(Input file) throws IOException;
        }

        /** Returns whether there is a local file; does something with it. */
        private boolean withLocal(LocalUse use) throws IOException {
            using.readLock().lock();
            try {
                Input file = local;
                if (file == null) {
                    return false;
                }
                use.use(file);
                return true;
            } finally {
                using.readLock().unlock();
            }
        }

        @Override
        public long length() throws IOException {
            long[] length = {0};
            return withLocal(file -> length[0] = file.length()) ? length[0] : reads.length(name);
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
