package org.opendedup.sar.remote;

import static org.opendedup.sar.container.format.PackFormat.isPack;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
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
    private final LocalPacks local;
    private final StoreReads reads;
    private final Uploads uploads;
    private final Readers readers;
    private final Deletions deletions;
    /** The packs in the folder that the store does not have whole. */
    private final Set<StagedPack> following = ConcurrentHashMap.newKeySet();

    private final CommitMarks marks;

    private volatile RewritingCost cost = new RewritingCost(StorePrices.NONE);
    private final PackNumbers numbers;
    /** Told when a pack is lost. */
    private volatile Runnable lossListener = () -> {};

    private RemoteDirectory(Directory staging, ObjectStore store, Bounds bounds, LongSupplier nanoClock, String volume)
            throws IOException {
        this.staging = staging;
        this.store = store;
        this.cacheBytes = bounds.cacheBytes;
        local = new LocalPacks(staging, store, cacheBytes, bounds.memoryBytes, nanoClock, volume);
        reads = local.reads();
        uploads = new Uploads(staging, store, volume, this::packIsStored, this::isBeingDeleted, nanoClock, this::lose);
        readers = new Readers(store, nanoClock);
        deletions = new Deletions(store, readers, nanoClock, volume, local::drop);
        marks = new CommitMarks(following, deletions);
        numbers = new PackNumbers(store, local.names(), name -> deletions.has(name) || exists(name));
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
                local.add(pack);
            }
        }
        if (local.all().isEmpty()) {
            return;
        }
        for (ObjectPage.Entry object : store.listAll(PackNames.PACKS, "")) {
            StagedPack pack = local.get(object.name().substring(PackNames.PACKS.length()));
            if (pack != null) {
                pack.stored = true;
                if (pack.length != object.length()) {
                    // Put before a crash cut the file; the object has all that was ever durable.
                    local.drop(pack.name);
                }
            }
        }
        dropOlderThanTails();
        following.addAll(local.all());
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
            StagedPack pack = local.get(name);
            if (pack != null && !pack.stored && lengthInTails(name) > pack.length) {
                log.warn("{} in {} is older than what {} has of it, and is removed", name, staging, store);
                local.drop(name);
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

    /**
     * Waits until the store has all packs that are complete. Gives up when more puts in a row have failed than are made
     * at the same time, of whichever packs: then one has failed that was made alone. On a slow line, several at the
     * same time have no answer in time. After it has given up, nobody waits for an upload any more.
     *
     * @return whether it has them
     */
    public boolean drain() {
        int before = uploads.failures();
        synchronized (uploads) {
            try {
                while (following.stream().anyMatch(StagedPack::isWaiting)) {
                    int failures = uploads.failures();
                    before = Math.min(before, failures);
                    if (failures - before > Uploads.LANES || uploads.isClosing()) {
                        uploads.giveUp();
                        return false;
                    }
                    uploads.wait(LOOK_MS);
                }
                return true;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                uploads.giveUp();
                return false;
            }
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
                    IOException last = uploads.failure();
                    throw new IOException(
                            pack.name + " is not in " + store + ", and the volume is being closed"
                                    + (last == null ? "" : ": " + last.getMessage()),
                            last);
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
        for (StagedPack pack : local.all()) {
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
                local.readBytes(),
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
     * Gives up the local file of a pack that the store does not have whole, because it cannot be opened: what tails
     * have is read there, and the rest is missing. The file is not deleted; the next opening finds it, if it can.
     */
    private void lose(StagedPack pack) {
        synchronized (pack) {
            pack.lost = true;
            pack.dropped = true;
            pack.notifyAll();
        }
        following.remove(pack);
        local.leave(pack);
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
        local.makeRoomLater(); // Copies may have the space that it needs.
        Output made = staging.create(name);
        numbers.add(name);
        StagedPack pack = new StagedPack(name);
        local.add(pack);
        following.add(pack);
        return new StagedOutput(made, pack, () -> uploads.add(pack));
    }

    private boolean isBeingDeleted(String name) {
        return deletions.has(name);
    }

    private void packIsStored() {
        local.makeRoomLater();
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
        return local.open(name, present(name));
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
        StagedPack pack = local.get(name);
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
        for (StagedPack pack : local.all()) {
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
        return local.get(name);
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
        StagedPack pack = local.get(name);
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
        if (!drain()) {
            log.warn("packs with {} bytes are not in {} yet; the next mount here puts them", missingBytes(), store);
        }
        Closing closing = new Closing();
        closing.run(local::close);
        closing.run(uploads::close);
        closing.run(deletions::close);
        closing.finish();
    }

    @Override
    public String toString() {
        return store + "/" + PackNames.PACKS.substring(0, PackNames.PACKS.length() - 1);
    }
}
