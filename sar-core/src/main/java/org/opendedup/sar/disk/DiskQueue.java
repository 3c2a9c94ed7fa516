package org.opendedup.sar.disk;

import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.RequestCost;
import org.opendedup.sar.io.StorageDevice;

/**
 * The queue of the device that holds the containers. Readers of many frames take turns: the most important first
 * ({@link Importance}), those of one importance in the order of their requests. As many readers are at the device at
 * once as make it fastest ({@link ConcurrencyTuner}). On a hard disk this is one, because two would make its arm seek
 * back and forth. From the times of the requests it learns what reading costs on the device ({@link DiskEstimator}).
 * Safe for use by many threads.
 *
 * <p>Work in the background has its turn while no reader is at the device or waits, and none was there for as long as a
 * seek takes: a program that reads again and again requests its next bytes within this time. Beside readers that leave
 * no such pause it has one turn at a time, after it has waited for some times its duration.
 */
public final class DiskQueue {
    /**
     * A request that is faster than 20 µs and 4 GB/s is counted as read from the kernel's cache. Used where the kernel
     * does not report which bytes were read from devices.
     */
    private static final long CACHED_NANOS = 20_000;

    private static final int CACHED_BYTES_PER_NANO = 4;

    /**
     * Shortest pause of the readers in which work in the background begins, in nanoseconds: enough for a program to
     * receive its bytes and to request the next ones.
     */
    private static final long MIN_PAUSE_NANOS = 2_000_000;

    /** Longest wait of a turn that others overtake, in nanoseconds. */
    private static final long MAX_PATIENCE_NANOS = 2_000_000_000;

    /** Bytes of the turn whose duration is assumed until one has ended: a container. */
    private static final long ASSUMED_TURN_BYTES = 4 << 20;

    /** Largest gap after which a request is a skip and not a seek, in bytes: that of two frames of one container. */
    private static final long MAX_SKIP_BYTES = 4 << 20;

    /** Number of the file of places that are counted from the start of the device; see {@link Turn#requested}. */
    public static final long DEVICE = -2;

    /** Readers that are at an object store at once: each waits for answers most of the time. */
    static final int STORE_REQUESTS = ConcurrencyTuner.MAX_REQUESTS;

    private static final long WITHOUT_END = Long.MAX_VALUE;
    /** Shortest wait between two looks at the clock, in nanoseconds. */
    private static final long LEAST_WAIT_NANOS = 100_000;

    private final LongSupplier clock;
    private final Supplier<OptionalLong> threadReadBytes;
    /** Null if the model is configured. */
    private final @Nullable DiskEstimator estimator;
    /**
     * Null if the number of concurrent requests is fixed: it is configured, or the device is configured as a hard disk.
     */
    private final @Nullable ConcurrencyTuner tuner;

    /** Returns the model of an object store, which others learn; null if it is learned here, or configured. */
    private final @Nullable Supplier<DiskModel> learned;

    /** Current model, used to plan reads, unless others learn it. */
    private volatile DiskModel model;

    /** Guarded by this, as are all fields below. */
    private int permits;

    private final Lane[] lanes = {
        new Lane(Importance.REQUEST), new Lane(Importance.STEP), new Lane(Importance.BACKGROUND)
    };

    private int inside;
    /** Reads of single frames, which take no turns, that are under way. */
    private int singleReads;
    /** When a reader for which a program waits was last at the device, in nanoseconds. */
    private long usedNanos;
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
        this(
                option.model(rotates),
                option.kind() == DiskOption.Kind.AUTO,
                option.kind() == DiskOption.Kind.HDD || option.requestsAtOnce() > 0,
                Math.max(1, option.requestsAtOnce()),
                rotates,
                clock,
                threadReadBytes,
                null);
    }

    private DiskQueue(
            DiskModel model,
            boolean isMeasured,
            boolean isFixed,
            int permits,
            boolean rotates,
            LongSupplier clock,
            Supplier<OptionalLong> threadReadBytes,
            @Nullable Supplier<DiskModel> learned) {
        this.learned = learned;
        this.clock = clock;
        this.threadReadBytes = threadReadBytes;
        this.model = model;
        this.permits = permits;
        estimator = isMeasured ? new DiskEstimator(model) : null;
        tuner = isFixed ? null : new ConcurrencyTuner(permits, rotates);
        changedNanos = clock.getAsLong();
        countedNanos = changedNanos;
        usedNanos = changedNanos - MAX_PATIENCE_NANOS;
    }

    /** Returns a queue for the device of a folder. */
    public static DiskQueue of(DiskOption option, Path folder) {
        boolean rotates = StorageDevice.isRotational(folder).orElse(true);
        return new DiskQueue(option, rotates, System::nanoTime, StorageDevice::threadReadBytes);
    }

    /**
     * Returns a queue for an object store. Its turns do not wait for each other, up to {@value #STORE_REQUESTS}: there
     * is no arm that they would move. Its model is that of the cost of its requests, or as configured: the times of
     * turns say little, because the readers find there what was asked for before.
     *
     * @param cost returns what a request costs, by what was learned up to now
     */
    public static DiskQueue ofStore(DiskOption option, Supplier<Optional<RequestCost>> cost) {
        boolean isLearned = option.kind() == DiskOption.Kind.AUTO;
        DiskModel model = isLearned ? DiskModel.STORE : option.model(false);
        int permits = option.requestsAtOnce() > 0 ? option.requestsAtOnce() : STORE_REQUESTS;
        Supplier<DiskModel> learned =
                isLearned ? () -> cost.get().map(DiskModel::of).orElse(model) : null;
        return new DiskQueue(model, false, true, permits, false, System::nanoTime, OptionalLong::empty, learned);
    }

    /** Returns the current model of the device, used to plan reads. */
    public DiskModel model() {
        return learned == null ? model : learned.get();
    }

    /** Returns the current state of the device and its queue. */
    public synchronized DiskStatus status() {
        Lane background = lane(Importance.BACKGROUND);
        return new DiskStatus(model(), permits, inside, waiting() - background.waiting(), background.waiting());
    }

    /** Number of turns that have begun or were given up. */
    public synchronized long turns() {
        long turns = 0;
        for (Lane lane : lanes) {
            turns += lane.served;
        }
        return turns;
    }

    /** Waits for a turn at the device; it must be closed. */
    public Turn enter(Importance importance) {
        Turn turn = next(importance);
        turn.begin();
        return turn;
    }

    /**
     * Waits until the caller is next at the device among those of its importance: all earlier ones have begun or given
     * up their turns. The turn must be closed.
     */
    public Turn next(Importance importance) {
        Lane lane = lane(importance);
        awaitNext(lane);
        return new Turn(lane);
    }

    /**
     * Begins a read of a single frame for which a program waits. It takes no turn and never waits here; while it is
     * under way, no turn in the background begins. To be closed when the frame is read.
     */
    public SingleRead singleRead() {
        beginSingleRead();
        return this::endSingleRead;
    }

    /** A read of a single frame that is under way. */
    @FunctionalInterface
    public interface SingleRead extends AutoCloseable {
        /** Ends the read. To be called once. */
        @Override
        void close();
    }

    private synchronized void beginSingleRead() {
        singleReads++;
    }

    private synchronized void endSingleRead() {
        singleReads--;
        noteUse();
        if (lane(Importance.BACKGROUND).waiting() > 0) {
            notifyAll();
        }
    }

    private Lane lane(Importance importance) {
        return lanes[importance.ordinal()];
    }

    /** Number of turns that are requested and have not begun. */
    private int waiting() {
        int waiting = 0;
        for (Lane lane : lanes) {
            waiting += lane.waiting();
        }
        return waiting;
    }

    private synchronized void awaitNext(Lane lane) {
        long ticket = lane.asked++;
        if (lane.waiting() == 1) {
            lane.sinceNanos = clock.getAsLong();
        }
        awaitUninterruptibly(() -> ticket == lane.served ? 0 : WITHOUT_END);
    }

    private synchronized void begin(Lane lane) {
        lane.ready = true;
        awaitUninterruptibly(() -> nanosToBegin(lane));
        lane.ready = false;
        lane.served++;
        lane.inside++;
        countTime();
        inside++;
        changedNanos = countedNanos;
        lane.sinceNanos = countedNanos;
        notifyAll();
    }

    /**
     * Returns 0 if the next turn of a lane can begin now, else the nanoseconds after which it is to be asked again
     * unless something changes.
     */
    private long nanosToBegin(Lane lane) {
        long now = clock.getAsLong();
        if (inside >= permits || overdue(now, lane)) {
            return WITHOUT_END;
        }
        long toOverdue = lane.nanosToOverdue(now);
        if (toOverdue <= 0) {
            return 0;
        }
        for (Lane other : lanes) {
            if (other.importance.compareTo(lane.importance) < 0 && other.waiting() > 0) {
                return toOverdue;
            }
        }
        return lane.importance == Importance.BACKGROUND ? Math.min(toOverdue, nanosToPause(lane, now)) : 0;
    }

    /** Returns whether a turn of another lane has waited too long, and for longer than that of this lane. */
    private boolean overdue(long now, Lane lane) {
        long mine = lane.nanosToOverdue(now);
        for (Lane other : lanes) {
            long others = other.nanosToOverdue(now);
            if (other != lane && others <= 0 && (others < mine || others == mine && other.comesBefore(lane))) {
                return true;
            }
        }
        return false;
    }

    /** Returns the nanoseconds until the readers will have left the device unused for long enough. */
    private long nanosToPause(Lane background, long now) {
        if (singleReads > 0 || inside > background.inside) {
            return WITHOUT_END;
        }
        return Math.max(0, usedNanos + Math.max(MIN_PAUSE_NANOS, model().seekNanos()) - now);
    }

    private void noteUse() {
        usedNanos = clock.getAsLong();
    }

    /** Gives up the next turn without using the disk. */
    private synchronized void pass(Lane lane) {
        lane.served++;
        lane.sinceNanos = clock.getAsLong();
        notifyAll();
    }

    /** Waits until {@code nanosToWait} returns 0. It is asked again after that time, and after every change. */
    private synchronized void awaitUninterruptibly(LongSupplier nanosToWait) {
        boolean interrupted = false;
        for (long nanos = nanosToWait.getAsLong(); nanos > 0; nanos = nanosToWait.getAsLong()) {
            try {
                if (nanos == WITHOUT_END) {
                    wait();
                } else {
                    TimeUnit.NANOSECONDS.timedWait(this, Math.max(nanos, LEAST_WAIT_NANOS));
                }
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void leave(Lane lane, long turnNanos) {
        countTime();
        inside--;
        changedNanos = countedNanos;
        lane.inside--;
        lane.turnNanos = turnNanos;
        lane.sinceNanos = countedNanos;
        if (lane.importance != Importance.BACKGROUND) {
            noteUse();
        }
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
            // Work in the background that waits would not use another permit.
            tuner.addRequest(
                    bytes,
                    fromDevice,
                    inside + waiting() - lane(Importance.BACKGROUND).waiting());
            if (permits != tuner.requests()) {
                permits = tuner.requests();
                notifyAll();
            }
        }
    }

    /** The turns of one importance. Used with the queue's monitor. */
    private final class Lane {
        final Importance importance;
        /**
         * Number of turns requested, and number of those that have begun or were given up. Turns are served in the
         * order of the requests.
         */
        long asked;

        long served;
        /** Number of turns at the device. */
        int inside;
        /** Whether the next turn can begin: its holder needs no more time to choose what to read. */
        boolean ready;
        /** Since when the next turn has waited, in nanoseconds; not before the previous one ended. */
        long sinceNanos;
        /** Duration of the latest turn, in nanoseconds; -1 before the first has ended. */
        long turnNanos = -1;

        Lane(Importance importance) {
            this.importance = importance;
        }

        int waiting() {
            return (int) (asked - served);
        }

        boolean comesBefore(Lane other) {
            return importance.compareTo(other.importance) < 0;
        }

        /**
         * Returns the nanoseconds until the next turn overtakes the more important ones, 0 or less if it does now;
         * {@link #WITHOUT_END} if it does not wait.
         */
        long nanosToOverdue(long now) {
            // One turn at a time: the others of its kind would take more than its share.
            if (!ready || inside > 0 || importance.patience() == 0) {
                return WITHOUT_END;
            }
            // The latest may have found everything in the kernel's cache; the next one seeks at least.
            long turn = turnNanos >= 0
                    ? Math.max(turnNanos, model.seekNanos())
                    : Math.round(model.seconds(1, ASSUMED_TURN_BYTES) * 1e9);
            return sinceNanos + Math.min(MAX_PATIENCE_NANOS, importance.patience() * turn) - now;
        }
    }

    /** A reader's turn at the device, for the thread that requested it. The reader chooses the order of its reads. */
    public final class Turn implements AutoCloseable {
        private final Lane lane;
        private boolean begun;
        private long begunNanos;
        private long file = -1;
        private long end;
        private boolean expects;
        private OptionalLong readBytes = OptionalLong.empty();

        private Turn(Lane lane) {
            this.lane = lane;
        }

        /** Waits until the turn begins. To be called once. */
        public void begin() {
            DiskQueue.this.begin(lane);
            begun = true;
            begunNanos = clock.getAsLong();
            readBytes = threadReadBytes.get();
        }

        /**
         * Notes that the thread has read {@code bytes} bytes at {@code offset} of a file, in one request of
         * {@code nanos} nanoseconds. Containers lie one after another in their pack: the place there tells whether the
         * disk seeks, not the container.
         *
         * @param readFile number of the pack, or {@link #DEVICE} if {@code offset} is known as that on the device
         */
        public void requested(long readFile, long offset, int bytes, long nanos) {
            DiskEstimator.Kind kind = kind(readFile, offset);
            file = readFile;
            end = offset + bytes;
            note(kind, bytes, nanos, !expects && isFromDevice(bytes, nanos));
        }

        /**
         * Notes that the kernel was asked for some of what the turn reads. The times of its requests say nothing about
         * the device from now on.
         */
        public void expects() {
            expects = true;
        }

        DiskEstimator.Kind kind(long readFile, long offset) {
            if (readFile != file || offset < end || offset - end > MAX_SKIP_BYTES) {
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
                leave(lane, clock.getAsLong() - begunNanos);
            } else {
                pass(lane);
            }
        }
    }
}
