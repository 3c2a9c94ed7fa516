package org.opendedup.sar.volume.engine;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionProgress;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.CollectionSource;
import org.opendedup.sar.collect.CollectionWatcher;
import org.opendedup.sar.collect.Collector;
import org.opendedup.sar.collect.Pins;
import org.opendedup.sar.collect.Recompression;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.disk.Pace;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.metadata.pending.ContainerTable;
import org.opendedup.sar.restore.frame.StopCheck;
import org.opendedup.sar.volume.store.DeviceSpaces;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Collects the garbage of a volume: on request, and by itself when a device is full. Safe for use by many threads. */
public final class SpaceCollector implements CollectionSource, Closeable {
    private static final Logger log = LoggerFactory.getLogger(SpaceCollector.class);

    /** Longest wait before who waits for space, or for the end of a collection, looks again, in milliseconds. */
    private static final long STEP_MS = 50;

    /** Time between two looks whether what was deleted is freed, in milliseconds. */
    private static final long PAUSE_MS = 20;

    /**
     * For how long a thread that finds no room waits until what was deleted is freed, in nanoseconds. Large files and
     * snapshots take hours, and what waits are the threads that serve all programs; there may be other garbage.
     */
    private static final long FREED_NS = TimeUnit.SECONDS.toNanos(2);

    /** Collections in turn for one caller. */
    private static final int MAX_COLLECTIONS = 3;

    private final Collector.Parts parts;
    private final Supplier<Future<?>> freed;
    private final DeviceSpaces devices;
    private final Evacuation evacuation;
    private final Pace pace = new Pace();
    /** Fair, so that a pass of healing that lets a collection begin does not get it back before. */
    private final ReentrantLock running = new ReentrantLock(true);
    /** Whether the lock is held by a collection. Changes under the lock. */
    private volatile boolean collecting;

    private volatile boolean closing;
    private volatile CollectionWatcher watcher = limits -> CollectionWatcher.IDLE;
    private volatile Runnable beforeEach = () -> {};
    private volatile Closing.Step permission = () -> {};
    private volatile Basis basis = Basis.COUNTS;
    /** Whether the log says that no collection may make room. */
    private volatile boolean refusalIsLogged;

    /**
     * Bytes of garbage that the last collection of this mount left: of little use, unreadable, or in a file system that
     * gives back whole packs only.
     */
    private volatile long leftBytes;

    /** How often collections of this mount have given something back. */
    private final AtomicLong fruitful = new AtomicLong();
    /** Guarded by the lock. */
    private final FruitlessCollection fruitless = new FruitlessCollection(System::nanoTime);
    /**
     * Containers with lower ids existed when the last collection began that was to compress containers anew, or the
     * volume was opened. Guarded by the lock.
     */
    private long youngFrom;
    /** Threads that found no room. */
    private final AtomicInteger seeking = new AtomicInteger();
    /** Threads that wait until there is room. */
    private final AtomicInteger waiting = new AtomicInteger();

    /**
     * @param freed returns what is done once everything is freed that was deleted before: only then it can be collected
     * @param devices know whether that waits for space
     * @param youngFrom first container id that was not allocated when the volume was opened
     */
    SpaceCollector(
            Collector.Parts parts,
            Supplier<Future<?>> freed,
            DeviceSpaces devices,
            Evacuation evacuation,
            long youngFrom) {
        this.parts = parts;
        this.evacuation = evacuation;
        this.freed = freed;
        this.devices = devices;
        this.youngFrom = youngFrom;
    }

    /**
     * Collects garbage while the volume is in use. What it has given back stays given back if it is stopped, and the
     * next collection goes on from there. One collection runs at a time; a second call waits for the first.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it, or the volume is being closed
     * @throws IOException if it is no dry run, and none may run; the message says why
     */
    @Override
    public CollectionReport collect(CollectionLimits limits, CollectionProgress progress) throws IOException {
        if (!limits.dryRun()) {
            requireAllowed();
        }
        awaitEnd(() -> {
            if (!progress.collected(0, 0, 0)) {
                throw new InterruptedIOException("the garbage collection was stopped");
            }
        });
        try {
            if (closing) {
                throw new InterruptedIOException("the volume is being closed");
            }
            collecting = true;
            AtomicLong most = new AtomicLong();
            CollectionProgress orClosing = (done, bytes, returned) -> {
                if (returned > most.get()) {
                    most.set(returned);
                    fruitful.incrementAndGet();
                }
                return progress.collected(done, bytes, returned) && !closing;
            };
            awaitFreed(orClosing);
            CollectionReport report;
            if (limits.dryRun()) {
                report = new Collector(parts, pace, orClosing).run(limits, recompression(limits));
            } else {
                beforeEach.run();
                try {
                    basis.begin(() -> orClosing.collected(0, 0, 0));
                    report = run(limits, orClosing);
                } finally {
                    basis.end();
                }
            }
            if (report.strayBytes() > 0) {
                fruitful.incrementAndGet();
            }
            if (!limits.dryRun() && limits.garbageShare() <= CollectionLimits.DEFAULT_GARBAGE_SHARE) {
                leftBytes = report.leftBytes();
            }
            return report;
        } finally {
            collecting = false;
            running.unlock();
        }
    }

    private CollectionReport run(CollectionLimits limits, CollectionProgress progress) throws IOException {
        Collector collector = new Collector(parts, pace, progress);
        Path leaves = limits.leaves();
        if (leaves == null) {
            return collector.run(limits, recompression(limits));
        }
        if (!parts.ownsPacks()) {
            throw new IOException("a data location is of another time than the metadata, and no pack is deleted in this"
                    + " mount: mount the volume again, and repeat the command");
        }
        evacuation.begin(leaves);
        CollectionReport report = collector.run(limits, Recompression.NONE, () -> evacuation.packs(leaves));
        evacuation.end(leaves, report.keptContainers());
        return report;
    }

    /** Also notes, for the next collection, what is young then. */
    private Recompression recompression(CollectionLimits limits) throws IOException {
        if (limits.recompressLevel() == 0) {
            return Recompression.NONE;
        }
        long before = youngFrom;
        if (!limits.dryRun()) {
            youngFrom = parts.metadata().firstFreeContainer();
        }
        return new Recompression(
                limits.recompressLevel(),
                limits.recompressesYoung() ? Long.MAX_VALUE : before,
                () -> waiting.get() > 0);
    }

    /** Work that relies on no collection running. */
    @FunctionalInterface
    public interface Work<T> {
        /** @param isWanted tells whether somebody waits for a collection, or the volume is being closed */
        T run(BooleanSupplier isWanted) throws IOException;
    }

    /**
     * Does work while no collection runs. If one is running, waits for its end.
     *
     * @param stop asked while this waits: a collection may last for hours, or be paused
     */
    public <T> T withoutCollections(StopCheck stop, Work<T> work) throws IOException {
        awaitEnd(stop::check);
        try {
            if (closing) {
                throw new InterruptedIOException("the volume is being closed");
            }
            return work.run(() -> closing || running.hasQueuedThreads());
        } finally {
            running.unlock();
        }
    }

    private void awaitEnd(Closing.Step stop) throws IOException {
        Threads.acquire(running, "the end of a collection", stop);
    }

    /** Sets what is run before each collection that is no dry run. To be called before the volume is used. */
    public void beforeEach(Runnable toRun) {
        beforeEach = toRun;
    }

    /** What a collection relies on: that what has no reference is garbage. */
    public interface Basis {
        /** The counts are right at any time. */
        Basis COUNTS = new Basis() {
            @Override
            public void begin(BooleanSupplier goesOn) {}

            @Override
            public void end() {}
        };

        /**
         * A collection that is no dry run begins.
         *
         * @throws java.io.InterruptedIOException if it is not to go on
         * @throws IOException if it cannot be known what is garbage; the message says why and what to do
         */
        void begin(BooleanSupplier goesOn) throws IOException;

        /** The collection has ended, or its begin has failed. */
        void end();
    }

    /** Sets what collections rely on. To be called before the volume is used. */
    public void relyOn(Basis now) {
        basis = now;
    }

    /**
     * Sets what is asked before each collection that is no dry run. To be called before the volume is used.
     *
     * @param asked fails if no place of a container may be given back; the message says why and what to do
     */
    public void permit(Closing.Step asked) {
        permission = asked;
    }

    /** @throws IOException if no collection may run but a dry run; the message says why and what to do */
    @Override
    public void requireAllowed() throws IOException {
        permission.run();
    }

    /**
     * Waits until everything is garbage that was deleted before; not while that waits for space itself, and not for
     * long while a thread seeks room.
     */
    private void awaitFreed(CollectionProgress progress) throws InterruptedIOException {
        long begunNanos = System.nanoTime();
        Future<?> earlier = freed.get();
        while (!earlier.isDone()
                && !devices.isShort()
                && (seeking.get() == 0 || System.nanoTime() - begunNanos < FREED_NS)
                && progress.collected(0, 0, 0)) {
            Pace.pause(PAUSE_MS);
        }
    }

    /**
     * Admits {@code bytes} more bytes of data, as {@link DeviceSpaces#admitData}. If there is no room, garbage is
     * collected first. The caller must have no use of a stored copy open, and no lock that a commit needs.
     *
     * @param underWayBytes accepted bytes that are not in a container file yet
     */
    public void admitData(long bytes, LongSupplier underWayBytes) throws IOException {
        withRoom(() -> devices.admitData(bytes, underWayBytes.getAsLong()));
    }

    /** Admits records of the metadata, as {@link DeviceSpaces#admitMetadata}; else as {@link #admitData}. */
    public void admitMetadata(long bytes) throws IOException {
        withRoom(() -> devices.admitMetadata(bytes));
    }

    /**
     * Admits a change that takes room only because a snapshot keeps what it replaces, as {@link #admitMetadata}. What
     * is reserved for deletes stays for that of snapshots, which alone give room back then.
     */
    public void admitKept() throws IOException {
        if (parts.metadata().snapshots().newest() > 0) {
            admitMetadata(0);
        }
    }

    /**
     * Returns the bytes that a collection would give back now, as of the last commit; 0 while none may run, or one
     * would wait for hours.
     */
    public long returnableBytes() {
        if (closing || pace.isPaused() || parts.pins().exist()) {
            return 0;
        }
        try {
            requireAllowed();
        } catch (IOException e) {
            return 0;
        }
        ContainerTable table = parts.metadata().containers();
        long garbage = table.garbageBytes();
        return Math.max(
                0, Math.min(garbage - leftBytes, CollectionLimits.returnableBytes(table.storedBytes(), garbage)));
    }

    /** Returns whether the device of the containers has little room left, and a collection would help it. */
    @Override
    public boolean isWorthwhile() throws IOException {
        return devices.isDataLowWithout(returnableBytes());
    }

    /**
     * Checks that {@code bytes} bytes can be stored, as {@link DeviceSpaces#check}. If there is no room, garbage is
     * collected first, unless all of it would not be enough. The caller must have no use of a stored copy open, and no
     * lock that a commit needs.
     */
    public void check(long bytes) throws IOException {
        // What was deleted and is not freed yet is not in the estimate: wait for that only if there is too little.
        if (bytes > devices.freeBytes() + garbageBytes()) {
            seeking.incrementAndGet();
            try {
                awaitFreed((done, of, returned) -> !closing);
            } finally {
                seeking.decrementAndGet();
            }
        }
        if (bytes > devices.freeBytes() + garbageBytes()) {
            devices.check(bytes);
        }
        withRoom(() -> devices.check(bytes));
    }

    /**
     * Runs what may find no space. If it finds none, garbage is collected, and it runs again; at most
     * {@link #MAX_COLLECTIONS} times. For the caller, see {@link #admitData}.
     */
    public void withRoom(Closing.Step admission) throws IOException {
        for (int collected = 0; ; collected++) {
            try {
                admission.run();
                return;
            } catch (NoSpaceException e) {
                // Others may take what a collection returns; and containers that have to be copied come second.
                if (collected == MAX_COLLECTIONS || !makeRoom()) {
                    throw e;
                }
            }
        }
    }

    /**
     * Gives space back because a device is full. Begins with containers of which nothing is used: to remove these takes
     * no space. If another collection runs, waits until it has given something back. While collections are paused, does
     * nothing.
     *
     * @return whether there may be more space than before the call
     */
    private boolean makeRoom() throws IOException {
        if (devices.isMetadataFull()) {
            return false;
        }
        try {
            requireAllowed();
            refusalIsLogged = false;
        } catch (IOException e) {
            if (!refusalIsLogged) {
                refusalIsLogged = true;
                log.warn("a device is full, and no garbage is collected: {}", e.getMessage());
            }
            return false;
        }
        pace.hurry();
        seeking.incrementAndGet();
        try {
            return makeRoomInAHurry();
        } finally {
            seeking.decrementAndGet();
            pace.endHurry();
        }
    }

    private boolean makeRoomInAHurry() {
        long before = fruitful.get();
        if (!enter(before)) {
            return fruitful.get() != before;
        }
        try {
            if (fruitful.get() != before) {
                return true;
            }
            // A pin may last for hours.
            if (closing || parts.pins().exist() || fruitless.wouldBeAgain(garbageBytes(), before)) {
                return false;
            }
            Future<?> deleted = freed.get();
            long begunNanos = System.nanoTime();
            boolean isWhole = collectWithoutRoom(1);
            if (fruitful.get() == before) {
                isWhole = collectWithoutRoom(CollectionLimits.DEFAULT_GARBAGE_SHARE) && isWhole;
            }
            boolean found = fruitful.get() != before;
            if (!found) {
                // One that was stopped, or failed, may find something as soon as it can go on.
                fruitless.ended(isWhole ? begunNanos : System.nanoTime(), garbageBytes(), before);
            }
            return found || !deleted.isDone();
        } finally {
            running.unlock();
        }
    }

    /** Acquires the lock. Returns false without it if that is not needed any more, or may last for ever. */
    private boolean enter(long before) {
        waiting.incrementAndGet();
        try {
            // A pin may last for hours, and the collection that runs waits for it.
            while (fruitful.get() == before
                    && !closing
                    && !pace.isPaused()
                    && !parts.pins().exist()) {
                if (running.tryLock(STEP_MS, TimeUnit.MILLISECONDS)) {
                    return true;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            waiting.decrementAndGet();
        }
        return false;
    }

    private long garbageBytes() {
        return parts.metadata().totals().stored().garbageBytes();
    }

    /** Returns whether the collection came to its end. */
    private boolean collectWithoutRoom(double garbageShare) {
        CollectionLimits limits = new CollectionLimits(garbageShare, false);
        CollectionWatcher.Watch watch = watcher.begun(limits);
        @Nullable CollectionReport report = null;
        @Nullable Exception failure = null;
        try {
            report = collect(
                    limits,
                    (done, bytes, returned) -> watch.collected(done, bytes, returned)
                            && !pace.isPaused()
                            && !parts.pins().exist());
            long bytes = report.returnedBytes() + report.strayBytes();
            if (bytes > 0) {
                log.info("a device was full: garbage collection gave {} bytes back", bytes);
            }
        } catch (NoSpaceException e) {
            failure = e;
            log.debug("garbage collection found no room for copies: {}", e.getMessage());
        } catch (IOException e) {
            failure = e;
            log.warn("garbage collection for a full device failed: {}", e.getMessage());
        } finally {
            watch.ended(report, failure);
        }
        return report != null;
    }

    /** Sets what receives the collections that begin because a device is full. */
    @Override
    public void watch(CollectionWatcher now) {
        watcher = now;
    }

    /** Returns what keeps chunks from being collected. */
    public Pins pins() {
        return parts.pins();
    }

    /** Returns the index from which collections remove what is gone. */
    public ChunkIndex index() {
        return parts.index();
    }

    /** Returns the uses of stored copies for which collections wait. */
    public GracePeriod uses() {
        return parts.uses();
    }

    /** Returns the pace of all collections of this mount. */
    @Override
    public Pace pace() {
        return pace;
    }

    /** Returns whether a collection is running. Work {@link #withoutCollections} is none. */
    @Override
    public boolean isRunning() {
        return collecting;
    }

    /** Stops a running collection after its present container, and waits for its end. Later ones fail. */
    @Override
    public void close() {
        closing = true;
        running.lock();
        running.unlock();
    }
}
