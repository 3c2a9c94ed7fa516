package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import java.time.Clock;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionProgress;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.CollectionSource;
import org.opendedup.sar.collect.CollectionWatcher;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.sdfs.config.RecompressLevel;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.PaceSetting;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.opendedup.sar.volume.config.RestoredMetadataException;

/** The garbage collections of a mounted volume, and their pace. */
public final class GarbageCollections extends Jobs<Collected> {
    private static final String NOT_ARRANGED =
            "chunks of a volume without files are not arranged: their client has their locations";

    private final CollectionSource source;
    private final @Nullable Moves moves;
    private final RecompressSetting recompress;
    private final Closing.Step permission;
    private final CollectionRecord record;
    private final PaceSetting pace;
    /** The latest collection that has ended and was no dry run, of this mount or an earlier one. Guarded by this. */
    private @Nullable JobStatus<Collected> last;

    /**
     * Whether collections arrange if they are not told. Off at first: collections write more than twice as much for it,
     * and the gain is predicted, not seen on a disk (docs/SPACE.md). Guarded by this.
     */
    private boolean arranging;

    /**
     * @param volume name of the volume
     * @param moves null for a volume of chunks without recipes: its client has their locations
     * @param recompress used by collections that are not asked for another level
     * @param permission asked before each collection that is no dry run; fails if containers may not be changed now
     */
    public GarbageCollections(
            String volume,
            CollectionSource source,
            @Nullable Moves moves,
            RecompressSetting recompress,
            Closing.Step permission,
            Clock clock) {
        this(volume, source, moves, recompress, permission, CollectionRecord.NONE, clock);
    }

    /** @param record keeps the last collection for later mounts */
    public GarbageCollections(
            String volume,
            CollectionSource source,
            @Nullable Moves moves,
            RecompressSetting recompress,
            Closing.Step permission,
            CollectionRecord record,
            Clock clock) {
        super(volume, "collection of garbage", Lives.ON, clock);
        this.record = record;
        last = record.read().orElse(null);
        this.source = source;
        this.moves = moves;
        this.recompress = recompress;
        this.permission = permission;
        pace = new PaceSetting(volume, "garbage collection", source.pace(), log());
        source.watch(this::begunByVolume);
    }

    /** Starts a collection as {@link #start(Cause, CollectionLimits)}, with the limits of the volume. */
    public Optional<JobStatus<Collected>> start(Cause cause) throws IOException {
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

    /** Starts a collection, as {@link Jobs#start}. Arranges before it if {@link #isArranging}. */
    public synchronized Optional<JobStatus<Collected>> start(Cause cause, CollectionLimits limits) throws IOException {
        return start(cause, limits, arranging && !limits.dryRun() ? ArrangementLimits.DEFAULT : null);
    }

    /**
     * Starts a collection, as {@link Jobs#start}.
     *
     * @param arranges limits of an arrangement before the collection; null if there is none
     */
    public synchronized Optional<JobStatus<Collected>> start(
            Cause cause, CollectionLimits limits, @Nullable ArrangementLimits arranges) throws IOException {
        if (isRunningByItself()) {
            throw new IOException("the volume collects garbage already, because a disk is full");
        }
        return start(cause, () -> {
            if (arranges != null && moves == null) {
                throw new IOException(NOT_ARRANGED);
            }
            if (!limits.dryRun()) {
                permission.run();
            }
            return plan(limits, new Collection(source, moves, limits, cause == Cause.SCHEDULE, arranges));
        });
    }

    private static RunningJob.Plan<Collected> plan(CollectionLimits limits, Collection work) {
        if (limits.leaves() != null) {
            return new RunningJob.Plan<>(
                    "the move of all containers out of " + limits.leaves() + " started",
                    Collection.COLLECTING,
                    new Collected(false, 0, null, null),
                    work);
        }
        String words = (limits.dryRun() ? "dry run of a collection" : "collection") + " of garbage started"
                + (work.arranges() == null ? "" : ", after an arrangement")
                + String.format(
                        Locale.ROOT, "; %.1f %% of the stored bytes may stay garbage", limits.garbageShare() * 100)
                + (limits.recompressLevel() == 0
                        ? ""
                        : "; compresses anew with " + new RecompressLevel(limits.recompressLevel()));
        return new RunningJob.Plan<>(words, Collection.COLLECTING, new Collected(limits.dryRun(), 0, null, null), work);
    }

    /** The volume begins a collection because a disk is full. */
    private CollectionWatcher.Watch begunByVolume(CollectionLimits limits) {
        return begunBy(Cause.FULL_DISK, limits);
    }

    /**
     * Shows a collection that the caller does itself, and whose progress and end it tells. One that was started on
     * request waits for it.
     */
    public CollectionWatcher.Watch begunBy(Cause cause, CollectionLimits limits) {
        return show(cause, plan(limits, new Collection(source, null, limits, false, null)))
                .map(GarbageCollections::watch)
                .orElse(CollectionWatcher.IDLE);
    }

    private static CollectionWatcher.Watch watch(RunningJob<Collected> job) {
        Collected before = Objects.requireNonNull(job.report());
        CollectionProgress progress = Collection.progress(job, before);
        return new CollectionWatcher.Watch() {
            @Override
            public boolean collected(long bytesDone, long bytes, long returnedBytes) {
                return progress.collected(bytesDone, bytes, returnedBytes);
            }

            @Override
            public void ended(@Nullable CollectionReport report, @Nullable Exception failure) {
                Collected now = Objects.requireNonNull(job.report());
                job.ended(report == null ? null : now.done(report), failure);
            }
        };
    }

    /**
     * Returns whether a collection is shown as the last one. One that the volume began counts only if it has returned
     * something: while a disk stays full, one that returns nothing may follow another every few seconds.
     */
    private static boolean counts(JobStatus<Collected> status) {
        Collected did = Collected.of(status);
        if (status.cause() != Cause.FULL_DISK) {
            return !did.dryRun();
        }
        CollectionReport report = did.report();
        return did.returnedBytes() > 0 || report != null && report.returnedBytes() + report.strayBytes() > 0;
    }

    @Override
    protected void keep(JobStatus<Collected> status) {
        if (counts(status)) {
            record.keep(status);
        }
    }

    /** Notes and logs an end. */
    @Override
    protected synchronized void ended(JobStatus<Collected> status) {
        if (counts(status)) {
            last = status;
        }
        if (status.cause() != Cause.FULL_DISK) {
            super.ended(status);
        }
    }

    @Override
    protected String words(JobStatus<Collected> status) {
        Collected did = Collected.of(status);
        CollectionReport report = did.report();
        if (report == null) {
            return ByteSize.rounded(did.returnedBytes()) + " returned";
        }
        if (did.dryRun()) {
            return "it would return about " + ByteSize.rounded(report.garbageBytes() - report.leftBytes());
        }
        ArrangementReport moved = did.arrangement();
        return "it has" + (moved == null ? "" : " moved " + ByteSize.rounded(moved.movedBytes()) + " of chunks,")
                + " returned " + ByteSize.rounded(report.returnedBytes() + report.strayBytes()) + ", removed "
                + report.removed() + " containers and rewritten " + report.rewritten() + "; kept "
                + report.keptContainers() + " with unreadable chunks or counts; left "
                + ByteSize.rounded(report.leftBytes())
                + " of garbage" + recompressed(report);
    }

    private static String recompressed(CollectionReport report) {
        return report.recompressSavedBytes() == 0 && report.recompressed() == 0
                ? ""
                : "; compressed " + report.recompressed() + " more containers harder; saved "
                        + ByteSize.rounded(report.recompressSavedBytes()) + " by that";
    }

    /** Returns whether one is running that the volume began itself, because a disk is full. */
    public synchronized boolean isRunningByItself() {
        return source.isRunning()
                && running().map(status -> status.cause() == Cause.FULL_DISK).orElse(true);
    }

    /**
     * Returns the latest collection that has ended; does not count dry runs. One of an earlier mount has the number 0.
     */
    public synchronized Optional<JobStatus<Collected>> last() {
        return Optional.ofNullable(last);
    }

    /**
     * Returns why the latest collection that has ended failed; empty if it did not. One that was refused because the
     * metadata were restored has not failed: that is a condition of the volume, which may have ended since.
     */
    public Optional<Throwable> lastFailure() {
        return last().map(JobStatus::failure).filter(failure -> !(failure instanceof RestoredMetadataException));
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
        if (now && moves == null) {
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
    public void setRecompress(Cause cause, RecompressLevel level) throws IOException {
        // Without the lock, because it writes the volume file.
        pace.logChange(cause, "recompress", recompress.set(level), level);
    }
}
