package org.opendedup.sar.disk;

import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.StorageDevice;

/**
 * The queue of the device that holds the containers. Readers of many frames take turns, in the order of their requests,
 * so none starves. As many readers are at the device at once as make it fastest ({@link ConcurrencyTuner}). On a hard
 * disk this is one, because two would make its arm seek back and forth. From the times of the requests it learns what
 * reading costs on the device ({@link DiskEstimator}). Safe for use by many threads.
 */
public final class DiskQueue {
    /**
     * A request that is faster than 20 µs and 4 GB/s is counted as read from the kernel's cache. Used where the kernel
     * does not report which bytes were read from devices.
     */
    private static final long CACHED_NANOS = 20_000;

    private static final int CACHED_BYTES_PER_NANO = 4;

    private final LongSupplier clock;
    private final Supplier<OptionalLong> threadReadBytes;
    /** Null if the model is configured. */
    private final @Nullable DiskEstimator estimator;
    /**
     * Null if the number of concurrent requests is fixed: it is configured, or the device is configured as a hard disk.
     */
    private final @Nullable ConcurrencyTuner tuner;

    /** Current model, used to plan reads. */
    private volatile DiskModel model;

    /** Guarded by this, as are all fields below. */
    private int permits;
    /**
     * Number of turns requested, and number of those that have begun or were given up. Turns are served in the order of
     * the requests.
     */
    private long asked;

    private long served;
    private int inside;
    /** When a reader last arrived or left, or the number of permits last changed, in nanoseconds. */
    private long changedNanos;
    /** When time was last counted for the tuner, in nanoseconds. */
    private long countedNanos;

    /**
     * @param rotates whether the device is assumed to be a rotating disk; used for the model of
     *     {@link DiskOption#AUTO}, and by the tuner, if there is one
     * @param clock current time in nanoseconds
     * @param threadReadBytes see {@link StorageDevice#threadReadBytes}
     */
    public DiskQueue(DiskOption option, boolean rotates, LongSupplier clock, Supplier<OptionalLong> threadReadBytes) {
        this.clock = clock;
        this.threadReadBytes = threadReadBytes;
        model = option.model(rotates);
        estimator = option.kind() == DiskOption.Kind.AUTO ? new DiskEstimator(model) : null;
        boolean isFixed = option.kind() == DiskOption.Kind.HDD || option.requestsAtOnce() > 0;
        permits = Math.max(1, option.requestsAtOnce());
        tuner = isFixed ? null : new ConcurrencyTuner(permits, rotates);
        changedNanos = clock.getAsLong();
        countedNanos = changedNanos;
    }

    /** Returns a queue for the device of a folder. */
    public static DiskQueue of(DiskOption option, Path folder) {
        boolean rotates = StorageDevice.isRotational(folder).orElse(true);
        return new DiskQueue(option, rotates, System::nanoTime, StorageDevice::threadReadBytes);
    }

    /** Returns the current model of the device, used to plan reads. */
    public DiskModel model() {
        return model;
    }

    /** Returns the current state of the device and its queue. */
    public synchronized DiskStatus status() {
        return new DiskStatus(model, permits, inside, (int) (asked - served));
    }

    /** Number of turns that have begun or were given up. */
    public synchronized long turns() {
        return served;
    }

    /** Waits for a turn at the device; it must be closed. */
    public Turn enter() {
        Turn turn = next();
        turn.begin();
        return turn;
    }

    /**
     * Waits until the caller is next at the device: all earlier callers have begun or given up their turns. The turn
     * must be closed.
     */
    public Turn next() {
        awaitNext();
        return new Turn();
    }

    private synchronized void awaitNext() {
        long ticket = asked++;
        awaitUninterruptibly(() -> ticket == served);
    }

    private synchronized void begin() {
        awaitUninterruptibly(() -> inside < permits);
        served++;
        countTime();
        inside++;
        changedNanos = countedNanos;
        notifyAll();
    }

    /** Gives up the next turn without using the disk. */
    private synchronized void pass() {
        served++;
        notifyAll();
    }

    private synchronized void awaitUninterruptibly(BooleanSupplier condition) {
        boolean interrupted = false;
        while (!condition.getAsBoolean()) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void leave() {
        countTime();
        inside--;
        changedNanos = countedNanos;
        notifyAll();
    }

    /**
     * Counts time for the tuner only while all permits are in use: otherwise more readers could have used the device.
     */
    private void countTime() {
        long now = clock.getAsLong();
        if (tuner != null && inside == permits) {
            tuner.addTime(now - countedNanos);
        }
        countedNanos = now;
    }

    private synchronized void note(DiskEstimator.Kind kind, int bytes, long nanos, boolean fromDevice) {
        countTime();
        boolean wasAlone = inside == 1 && countedNanos - nanos >= changedNanos;
        if (estimator != null && fromDevice && wasAlone) {
            estimator.add(kind, bytes, nanos);
            model = estimator.model();
        }
        if (tuner != null && inside == permits) {
            tuner.addRequest(bytes, fromDevice, (int) (inside + asked - served));
            if (permits != tuner.requests()) {
                permits = tuner.requests();
                notifyAll();
            }
        }
    }

    /** A reader's turn at the device, for the thread that requested it. The reader chooses the order of its reads. */
    public final class Turn implements AutoCloseable {
        private boolean begun;
        private long container = -1;
        private long end;
        private OptionalLong readBytes = OptionalLong.empty();

        /** Waits until the turn begins. To be called once. */
        public void begin() {
            DiskQueue.this.begin();
            begun = true;
            readBytes = threadReadBytes.get();
        }

        /** Notes that the next request is at another place on the device, whatever its offset in its container is. */
        public void moves() {
            container = -1;
        }

        /**
         * Notes that the thread has read {@code bytes} bytes at {@code offset} of a container's file, in one request of
         * {@code nanos} nanoseconds.
         */
        public void requested(long readContainer, long offset, int bytes, long nanos) {
            DiskEstimator.Kind kind = kind(readContainer, offset);
            container = readContainer;
            end = offset + bytes;
            note(kind, bytes, nanos, isFromDevice(bytes, nanos));
        }

        private DiskEstimator.Kind kind(long readContainer, long offset) {
            if (readContainer != container || offset < end) {
                return DiskEstimator.Kind.SEEKS;
            }
            return offset == end ? DiskEstimator.Kind.CONTINUES : DiskEstimator.Kind.SKIPS;
        }

        /**
         * Whether the bytes of the last request were read from the device; the kernel may have read a small part of
         * them ahead.
         */
        private boolean isFromDevice(int bytes, long nanos) {
            OptionalLong before = readBytes;
            readBytes = threadReadBytes.get();
            if (before.isEmpty() || readBytes.isEmpty()) {
                return nanos > CACHED_NANOS + bytes / CACHED_BYTES_PER_NANO;
            }
            return readBytes.getAsLong() - before.getAsLong() >= bytes / 4 * 3L;
        }

        @Override
        public void close() {
            if (begun) {
                leave();
            } else {
                pass();
            }
        }
    }
}
