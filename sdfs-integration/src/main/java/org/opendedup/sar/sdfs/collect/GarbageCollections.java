package org.opendedup.sar.sdfs.collect;

import java.io.Closeable;
import java.io.IOException;
import java.time.Clock;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.CollectionWatcher;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sdfs.config.RecompressLevel;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.sdfs.jobs.PaceSetting;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.opendedup.sar.volume.config.RestoredMetadataException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The garbage collections of a mounted volume, and their pace. One runs at a time, in the background. Each start, each
 * end and each change of the pace is a line in the log. Safe for use by many threads.
 */
public final class GarbageCollections implements Closeable {
    private static final String NOT_ARRANGED =
            "chunks of a volume without files are not arranged: their client has their locations";

    private static final Logger LOG = LoggerFactory.getLogger(GarbageCollections.class);

    private final String volume;
    private final CollectionSource source;
    private final RecompressSetting recompress;
    private final Permission permission;
    private final CollectionRecord record;
    private final Clock clock;
    private final PaceSetting pace;
    /** The latest collection. Guarded by this. */
    private @Nullable RunningCollection latest;
    /** The latest that was started on request: its client asks for it until it has ended. Guarded by this. */
    private @Nullable RunningCollection onRequest;
    /** The latest collection that has ended and was no dry run, of this mount or an earlier one. Guarded by this. */
    private @Nullable CollectionStatus last;

    private long started;
    /**
     * Whether collections arrange if they are not told. Off at first: collections write more than twice as much for it,
     * and the gain is predicted, not seen on a disk (docs/SPACE.md). Guarded by this.
     */
    private boolean arranging;

    private boolean closed;

    /** Decides whether containers may be changed now. */
    @FunctionalInterface
    public interface Permission {
        /** @throws IOException if not; the message says why */
        void check() throws IOException;
    }

    /**
     * @param volume name of the volume
     * @param recompress used by collections that are not asked for another level
     * @param permission asked before each collection that is no dry run
     */
    public GarbageCollections(
            String volume, CollectionSource source, RecompressSetting recompress, Permission permission, Clock clock) {
        this(volume, source, recompress, permission, CollectionRecord.NONE, clock);
    }

    /** @param record keeps the last collection for later mounts */
    public GarbageCollections(
            String volume,
            CollectionSource source,
            RecompressSetting recompress,
            Permission permission,
            CollectionRecord record,
            Clock clock) {
        this.record = record;
        last = record.read().orElse(null);
        this.volume = volume;
        this.source = source;
        this.recompress = recompress;
        this.permission = permission;
        this.clock = clock;
        pace = new PaceSetting(volume, "garbage collection", source.pace(), LOG);
        source.watch(this::begunByVolume);
    }

    /** Starts a collection as {@link #start(Cause, CollectionLimits)}, with the limits of the volume. */
    public Optional<CollectionStatus> start(Cause cause) throws IOException {
        return start(cause, limits(CollectionLimits.DEFAULT_GARBAGE_SHARE, false));
    }

    /**
     * Starts a collection because a disk has little room left, if it helps and none is running. It arranges and
     * compresses nothing, because that takes space first.
     */
    boolean startIfWorthwhile() throws IOException {
        return !source.isRunning()
                && source.isWorthwhile()
                && start(Cause.LOW_SPACE, new CollectionLimits(CollectionLimits.DEFAULT_GARBAGE_SHARE, false), null)
                        .isPresent();
    }

    /**
     * Returns limits that compress anew as the volume is set to. Containers are left out that did not exist when the
     * last such collection began, because they may be deleted soon.
     */
    public CollectionLimits limits(double garbageShare, boolean dryRun) {
        return recompress.limits(garbageShare, dryRun);
    }

    /**
     * Returns limits that compress all containers anew with a level.
     *
     * @throws IllegalArgumentException if the level is not allowed; the message says which are
     */
    public CollectionLimits limits(double garbageShare, boolean dryRun, RecompressLevel level) {
        return recompress.limits(garbageShare, dryRun, level);
    }

    /**
     * Tells whether a collection that somebody asks for may run. One that the schedule starts fails later instead, so
     * that its failure is the last result.
     *
     * @throws IOException if none may run but a dry run; the message says why
     */
    public void requireAllowed() throws IOException {
        source.requireAllowed();
    }

    /**
     * Starts a collection and returns at once. Arranges before it if {@link #isArranging}.
     *
     * @return its status; empty if {@link #running another one} is running
     * @throws IOException if none may run; the message says why
     */
    public synchronized Optional<CollectionStatus> start(Cause cause, CollectionLimits limits) throws IOException {
        return start(cause, limits, arranging && !limits.dryRun() ? ArrangementLimits.DEFAULT : null);
    }

    /**
     * Starts a collection and returns at once.
     *
     * @param arranges limits of an arrangement before the collection; null if there is none
     * @return its status; empty if {@link #running another one} is running
     * @throws IOException if none may run; the message says why
     */
    public synchronized Optional<CollectionStatus> start(
            Cause cause, CollectionLimits limits, @Nullable ArrangementLimits arranges) throws IOException {
        if (closed) {
            throw new IOException("the volume is being unmounted");
        }
        if (isRunningByItself()) {
            throw new IOException("the volume collects garbage already, because a disk is full");
        }
        if (running().isPresent()) {
            return Optional.empty();
        }
        if (arranges != null && !source.canArrange()) {
            throw new IOException(NOT_ARRANGED);
        }
        if (!limits.dryRun()) {
            permission.check();
        }
        var begun = new RunningCollection(++started, cause, limits, arranges, source, clock, this::ended);
        latest = begun;
        onRequest = begun;
        LOG.info(
                "volume {}, by {}: {} of garbage started{}; {} % of the stored bytes may stay garbage{}",
                volume,
                cause,
                limits.dryRun() ? "dry run of a collection" : "collection",
                arranges == null ? "" : ", after an arrangement",
                String.format(Locale.ROOT, "%.1f", limits.garbageShare() * 100),
                limits.recompressLevel() == 0
                        ? ""
                        : "; compresses anew with " + new RecompressLevel(limits.recompressLevel()));
        begun.start();
        return Optional.of(begun.status());
    }

    /** The volume begins a collection because a disk is full. */
    private CollectionWatcher.Watch begunByVolume(CollectionLimits limits) {
        return begun(Cause.FULL_DISK, limits, this::endedByVolume);
    }

    /** Shows a collection that the caller does itself, and whose progress and end it tells. */
    public CollectionWatcher.Watch begunBy(Cause cause, CollectionLimits limits) {
        return begun(cause, limits, this::ended);
    }

    private synchronized CollectionWatcher.Watch begun(Cause cause, CollectionLimits limits, Consumer<Runnable> atEnd) {
        if (closed || running().isPresent()) {
            // One that was started on request waits for this one.
            return CollectionWatcher.IDLE;
        }
        var begun = new RunningCollection(++started, cause, limits, null, source, clock, atEnd);
        latest = begun;
        return begun;
    }

    /** Notes the end of a collection that the volume began. It is the last one if it has returned something. */
    private synchronized void endedByVolume(Runnable show) {
        show.run();
        CollectionStatus status = latest().orElseThrow();
        CollectionReport report = status.report();
        // While a disk stays full, one that returns nothing may follow another every few seconds.
        if (status.returnedBytes() > 0 || report != null && report.returnedBytes() + report.strayBytes() > 0) {
            ended(status);
        }
    }

    /** Shows the end of the latest collection, and notes it before another one can start. */
    private synchronized void ended(Runnable show) {
        show.run();
        CollectionStatus status = latest().orElseThrow();
        if (!status.dryRun()) {
            ended(status);
        }
        if (status.state() == JobState.FAILED) {
            LOG.warn("volume {}: the collection of garbage failed", volume, status.failure());
        } else {
            LOG.info("volume {}: the collection of garbage {}", volume, words(status));
        }
    }

    private synchronized void ended(CollectionStatus status) {
        last = status;
        record.keep(status);
    }

    private static String words(CollectionStatus status) {
        String time = String.format(Locale.ROOT, " after %.1f s", status.seconds());
        CollectionReport report = status.report();
        if (report == null) {
            return "was stopped" + time + "; " + ByteSize.rounded(status.returnedBytes()) + " returned";
        }
        if (status.dryRun()) {
            return "would return about " + ByteSize.rounded(report.garbageBytes() - report.leftBytes())
                    + ", as a dry run found" + time;
        }
        ArrangementReport moved = status.arrangement();
        return "ended" + time + ": it has"
                + (moved == null ? "" : " moved " + ByteSize.rounded(moved.movedBytes()) + " of chunks,") + " returned "
                + ByteSize.rounded(report.returnedBytes() + report.strayBytes()) + ", removed " + report.removed()
                + " containers and rewritten " + report.rewritten() + "; kept " + report.keptContainers()
                + " with unreadable chunks; left " + ByteSize.rounded(report.leftBytes()) + " of garbage"
                + recompressed(report);
    }

    private static String recompressed(CollectionReport report) {
        return report.recompressSavedBytes() == 0 && report.recompressed() == 0
                ? ""
                : "; compressed " + report.recompressed() + " more containers harder; saved "
                        + ByteSize.rounded(report.recompressSavedBytes()) + " by that";
    }

    /** Returns the collection that is running. */
    public synchronized Optional<CollectionStatus> running() {
        return latest != null && latest.job().end() == null ? Optional.of(latest.status()) : Optional.empty();
    }

    /** Returns whether one is running that the volume began itself, because a disk is full. */
    public synchronized boolean isRunningByItself() {
        return source.isRunning()
                && running().map(status -> status.cause() == Cause.FULL_DISK).orElse(true);
    }

    /** Returns the latest collection, running or ended, also if it is a dry run. */
    public synchronized Optional<CollectionStatus> latest() {
        return Optional.ofNullable(latest).map(RunningCollection::status);
    }

    /** Returns the collection with this number, if it is the latest one or the latest that was started on request. */
    public synchronized Optional<CollectionStatus> numbered(long number) {
        return Stream.of(latest, onRequest)
                .filter(collection -> collection != null && collection.job().number() == number)
                .findFirst()
                .map(RunningCollection::status);
    }

    /**
     * Returns the latest collection that has ended; does not count dry runs. One of an earlier mount has the number 0.
     */
    public synchronized Optional<CollectionStatus> last() {
        return Optional.ofNullable(last);
    }

    /**
     * Returns why the latest collection that has ended failed; empty if it did not. One that was refused because the
     * metadata were restored has not failed: that is a condition of the volume, which may have ended since.
     */
    public Optional<Throwable> lastFailure() {
        return last().map(CollectionStatus::failure).filter(failure -> !(failure instanceof RestoredMetadataException));
    }

    /**
     * Makes the collection with this number end after the container at hand; returns at once.
     *
     * @return whether it is running
     */
    public synchronized boolean stop(Cause cause, long number) {
        if (latest == null || latest.job().end() != null || latest.job().number() != number) {
            return false;
        }
        LOG.info("volume {}, by {}: stopping the collection of garbage", volume, cause);
        latest.job().stop();
        return true;
    }

    /** Returns the pace of all collections of this mount. */
    public PaceSetting pace() {
        return pace;
    }

    /** Returns whether collections arrange before they collect, unless they are told. */
    public synchronized boolean isArranging() {
        return arranging;
    }

    /**
     * Sets whether the collections of this mount arrange before they collect, the scheduled ones too.
     *
     * @throws IllegalArgumentException if the volume's chunks cannot be moved to other locations
     */
    public synchronized void setArranging(Cause cause, boolean now) {
        if (now && !source.canArrange()) {
            throw new IllegalArgumentException(NOT_ARRANGED);
        }
        boolean before = arranging;
        arranging = now;
        pace.logChange(cause, "arrange", before, now);
    }

    /** Returns how hard the next collection compresses containers anew. */
    public RecompressLevel recompress() {
        return recompress.level();
    }

    /**
     * Sets how hard later collections compress containers anew, also those of later mounts.
     *
     * @throws IllegalArgumentException if the level is not allowed; the message says which are
     */
    public synchronized void setRecompress(Cause cause, RecompressLevel level) throws IOException {
        RecompressLevel before = recompress();
        recompress.set(level);
        pace.logChange(cause, "recompress", before, level);
    }

    /** Stops the running collection and waits for its end, in bounded time. None starts afterwards. */
    @Override
    public void close() throws IOException {
        RunningCollection running;
        synchronized (this) {
            closed = true;
            running = latest;
        }
        if (running == null) {
            return;
        }
        if (!running.job().close()) {
            LOG.warn(
                    "volume {}: the collection of garbage has not ended after {} s; no longer waiting for it",
                    volume,
                    RunningJob.CLOSING.toSeconds());
        }
    }
}
