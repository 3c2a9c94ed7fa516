package org.opendedup.sar.restore;

import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.StorageDevice;

/**
 * The queue before the device that holds the containers: readers of many frames take turns, in the order in which they ask, so none
 * starves. As many at once as the device is fastest with ({@link ConcurrencyTuner}): on a hard disk one, as two would send its arm
 * to and fro. From the times of their requests it learns what reading costs there ({@link StorageEstimator}). Safe for use by many
 * threads.
 */
public final class DiskQueue {
    /** A device is never so fast: 20 µs and 4 GB/s. Holds where the kernel does not count what comes from devices. */
    private static final long CACHED_NANOS = 20_000;

    private static final int CACHED_BYTES_PER_NANO = 4;

    private final LongSupplier clock;
    private final Supplier<OptionalLong> threadReadBytes;
    /** Null: the model is configured. */
    private final @Nullable StorageEstimator estimator;
    /** Null: how many requests at once is configured. */
    private final @Nullable ConcurrencyTuner tuner;

    /** What plans are made by now. */
    private volatile StorageModel model;

    /** Guarded by this, as is all below it. */
    private int permits;
    /** Turns asked for so far, and those that have begun or were passed over: in the order in which they were asked for. */
    private long asked;

    private long served;
    private int inside;
    /** When a reader came or went, or the number of permits changed. */
    private long changedNanos;
    /** Up to when time was counted for the tuner. */
    private long countedNanos;

    /**
     * @param rotates whether the device is thought to be a rotating disk; matters for {@link DiskOption#AUTO} alone
     * @param clock nanoseconds
     * @param threadReadBytes see {@link StorageDevice#threadReadBytes}
     */
    DiskQueue(DiskOption option, boolean rotates, LongSupplier clock, Supplier<OptionalLong> threadReadBytes) {
        this.clock = clock;
        this.threadReadBytes = threadReadBytes;
        model = option.model(rotates);
        estimator = option.kind() == DiskOption.Kind.AUTO ? new StorageEstimator(model) : null;
        boolean isFixed = option.kind() == DiskOption.Kind.HDD || option.requestsAtOnce() > 0;
        permits = Math.max(1, option.requestsAtOnce());
        tuner = isFixed ? null : new ConcurrencyTuner(permits, rotates);
        changedNanos = clock.getAsLong();
        countedNanos = changedNanos;
    }

    /** The queue before the device of a folder. */
    public static DiskQueue of(DiskOption option, Path folder) {
        boolean rotates = StorageDevice.isRotational(folder).orElse(true);
        return new DiskQueue(option, rotates, System::nanoTime, StorageDevice::threadReadBytes);
    }

    /** The model of the device that plans are made by now. */
    public StorageModel model() {
        return model;
    }

    /** How it is now. */
    public synchronized DiskStatus status() {
        return new DiskStatus(model, permits, inside, (int) (asked - served));
    }

    /** How many turns have begun so far, or were not needed. */
    synchronized long turns() {
        return served;
    }

    /** Waits for a turn at the device; it must be closed. */
    Turn enter() {
        Turn turn = next();
        turn.begin();
        return turn;
    }

    /** Waits until the device comes next to the caller, so all who asked before have begun; the turn must be closed. */
    Turn next() {
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

    /** Whose turn it is next does not need it. */
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

    /** Time in which more readers could have come to the device is not the device's. */
    private void countTime() {
        long now = clock.getAsLong();
        if (tuner != null && inside == permits) {
            tuner.addTime(now - countedNanos);
        }
        countedNanos = now;
    }

    private synchronized void note(StorageEstimator.Kind kind, int bytes, long nanos, boolean fromDevice) {
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

    /** A reader's time at the device, for the thread that asked. It reads in its own order. */
    final class Turn implements AutoCloseable {
        private boolean begun;
        private long container = -1;
        private long end;
        private OptionalLong readBytes = OptionalLong.empty();

        /** Waits until the device has come to the caller. To be called once. */
        void begin() {
            DiskQueue.this.begin();
            begun = true;
            readBytes = threadReadBytes.get();
        }

        /** The next request is somewhere else, whatever its offset in its container is. */
        void moves() {
            container = -1;
        }

        /** The thread has read so many bytes at an offset of a container's file, in one request, which took so long. */
        void requested(long readContainer, long offset, int bytes, long nanos) {
            StorageEstimator.Kind kind = kind(readContainer, offset);
            container = readContainer;
            end = offset + bytes;
            note(kind, bytes, nanos, isFromDevice(bytes, nanos));
        }

        private StorageEstimator.Kind kind(long readContainer, long offset) {
            if (readContainer != container || offset < end) {
                return StorageEstimator.Kind.SEEKS;
            }
            return offset == end ? StorageEstimator.Kind.CONTINUES : StorageEstimator.Kind.SKIPS;
        }

        /** Whether the bytes of the last request came from there; the kernel may have read a bit of them ahead. */
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
