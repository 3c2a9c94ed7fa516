package org.opendedup.sar.volume;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionProgress;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.Collector;
import org.opendedup.sar.collect.Pace;
import org.opendedup.sar.collect.Pins;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.volume.store.DeviceSpaces;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Collects the garbage of a volume: on request, and by itself when a device is full. Safe for use by many threads. */
public final class SpaceCollector implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(SpaceCollector.class);

    /** Time for which a full device is not searched for garbage again if there was none, in nanoseconds. */
    private static final long FRUITLESS_NS = TimeUnit.SECONDS.toNanos(2);

    /** Longest wait before a writer that waits for space notices that there is some, in milliseconds. */
    private static final long STEP_MS = 50;

    /** Time between two looks whether what was deleted is freed, in milliseconds. */
    private static final long PAUSE_MS = 20;

    private final Collector.Parts parts;
    private final Reaper reaper;
    private final DeviceSpaces devices;
    private final Pace pace = new Pace();
    private final ReentrantLock running = new ReentrantLock();
    private volatile boolean closing;

    /** How often collections of this mount have given something back. */
    private final AtomicLong fruitful = new AtomicLong();
    /** When a collection last gave nothing back, in nanoseconds. Guarded by the lock, as is the next. */
    private long fruitlessNanos = System.nanoTime() - FRUITLESS_NS;
    /** Garbage at that time, in bytes: more of it is worth another collection at once. */
    private long fruitlessGarbage;

    /**
     * @param reaper frees what was deleted, which must be done before it can be collected
     * @param devices know whether the reaper waits for space
     */
    SpaceCollector(Collector.Parts parts, Reaper reaper, DeviceSpaces devices) {
        this.parts = parts;
        this.reaper = reaper;
        this.devices = devices;
    }

    /**
     * Collects garbage while the volume is in use. What it has given back stays given back if it is stopped, and the
     * next collection goes on from there. One collection runs at a time; a second call waits for the first.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it, or the volume is being closed
     */
    public CollectionReport collect(CollectionLimits limits, CollectionProgress progress) throws IOException {
        running.lock();
        try {
            if (closing) {
                throw new InterruptedIOException("the volume is being closed");
            }
            AtomicLong most = new AtomicLong();
            CollectionProgress orClosing = (done, bytes, returned) -> {
                if (returned > most.get()) {
                    most.set(returned);
                    fruitful.incrementAndGet();
                }
                return progress.collected(done, bytes, returned) && !closing;
            };
            awaitFreed(orClosing);
            CollectionReport report = new Collector(parts, pace, orClosing).run(limits);
            if (report.strayBytes() > 0) {
                fruitful.incrementAndGet();
            }
            return report;
        } finally {
            running.unlock();
        }
    }

    /** Waits until everything is garbage that was deleted before; not while that waits for space itself. */
    private void awaitFreed(CollectionProgress progress) throws InterruptedIOException {
        Future<?> freed = reaper.freed();
        while (!freed.isDone() && !devices.isShort() && progress.collected(0, 0, 0)) {
            Pace.pause(PAUSE_MS);
        }
    }

    /**
     * Admits {@code bytes} more bytes of data, as {@link DeviceSpaces#admitData}. If there is no room, garbage is
     * collected first. The caller must have no use of a stored copy open, and no lock that a commit needs.
     *
     * @param underWayBytes accepted bytes that are not in a container file yet
     */
    void admitData(long bytes, LongSupplier underWayBytes) throws IOException {
        try {
            devices.admitData(bytes, underWayBytes.getAsLong());
        } catch (NoSpaceException e) {
            if (!makeRoom()) {
                throw e;
            }
            devices.admitData(bytes, underWayBytes.getAsLong());
        }
    }

    /**
     * Gives space back because a device is full. Begins with containers of which nothing is used: to remove these takes
     * no space. If another collection runs, waits until it has given something back. While collections are paused, does
     * nothing.
     *
     * @return whether there may be more space than before the call
     */
    private boolean makeRoom() {
        long before = fruitful.get();
        if (!enter(before)) {
            return fruitful.get() != before;
        }
        try {
            if (fruitful.get() != before) {
                return true;
            }
            long garbage = garbageBytes();
            boolean isVain = garbage == fruitlessGarbage && System.nanoTime() - fruitlessNanos < FRUITLESS_NS;
            // A pin may last for hours.
            if (closing || parts.pins().exist() || isVain) {
                return false;
            }
            collectWithoutRoom(1);
            if (fruitful.get() == before) {
                collectWithoutRoom(CollectionLimits.DEFAULT_GARBAGE_SHARE);
            }
            boolean found = fruitful.get() != before;
            if (!found) {
                fruitlessNanos = System.nanoTime();
                fruitlessGarbage = garbageBytes();
            }
            return found;
        } finally {
            running.unlock();
        }
    }

    /** Acquires the lock. Returns false without it if that is not needed any more, or may last for ever. */
    private boolean enter(long before) {
        try {
            while (fruitful.get() == before && !closing && !pace.isPaused()) {
                if (running.tryLock(STEP_MS, TimeUnit.MILLISECONDS)) {
                    return true;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    private long garbageBytes() {
        return parts.metadata().totals().stored().garbageBytes();
    }

    private void collectWithoutRoom(double garbageShare) {
        try {
            CollectionReport report = collect(
                    new CollectionLimits(garbageShare, false),
                    (done, bytes, returned) -> !pace.isPaused() && !parts.pins().exist());
            long bytes = report.returnedBytes() + report.strayBytes();
            if (bytes > 0) {
                log.info("a device was full: garbage collection gave {} bytes back", bytes);
            }
        } catch (NoSpaceException e) {
            log.debug("garbage collection found no room for copies: {}", e.getMessage());
        } catch (IOException e) {
            log.warn("garbage collection for a full device failed: {}", e.getMessage());
        }
    }

    Pins pins() {
        return parts.pins();
    }

    /** Returns the uses of stored copies for which collections wait. */
    GracePeriod uses() {
        return parts.uses();
    }

    /** Returns the pace of all collections of this mount. */
    public Pace pace() {
        return pace;
    }

    /** Returns whether a collection is running. */
    public boolean isRunning() {
        return running.isLocked();
    }

    /** Stops a running collection after its present container, and waits for its end. Later ones fail. */
    @Override
    public void close() {
        closing = true;
        running.lock();
        running.unlock();
    }
}
