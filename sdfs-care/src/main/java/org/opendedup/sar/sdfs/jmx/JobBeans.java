package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import javax.management.openmbean.CompositeData;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.sdfs.check.VolumeChecks;
import org.opendedup.sar.sdfs.collect.Collected;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.config.RecompressLevel;
import org.opendedup.sar.sdfs.heal.Heals;
import org.opendedup.sar.sdfs.jmx.RecordBean.Effect;
import org.opendedup.sar.sdfs.jmx.RecordBean.Limits;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.PaceSetting;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.join.Joins;
import org.opendedup.sar.sdfs.scrub.Scrubs;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.care.DamageReport;
import org.opendedup.sar.volume.care.DamageReport.Fault;
import org.opendedup.sar.volume.care.DamageReport.FileDamage;
import org.opendedup.sar.volume.config.OtherHistory;

/** The beans of the kinds of jobs: what runs, what the last one did, and how one is started and stopped. */
final class JobBeans {
    /** Damaged files that JMX lists. */
    private static final int LISTED_MAX = 1000;

    private JobBeans() {}

    /** Starts a job with the default settings. */
    @FunctionalInterface
    private interface Starter<R> {
        /** @throws IOException if none may run; the message says why */
        Optional<JobStatus<R>> start(Cause cause) throws IOException;
    }

    /** The last job of a kind. */
    private record Last(
            @Figure(
                    value = "State of the last one: running, done, stopped or failed; empty if there was none",
                    unit = "name")
            String lastState,

            @Figure(
                    value = "What started it: sdfscli, JMX, the schedule or an idle volume; empty if there was none",
                    unit = "name")
            String lastCause,

            @Figure(value = "When it ended, in UTC; empty if there was none", unit = "ISO 8601")
            String lastEnded,

            @Figure(value = "How long it has run", unit = "seconds")
            double lastSeconds) {
        static Last of(Optional<? extends JobStatus<?>> job) {
            return new Last(
                    job.map(status -> status.state().toString()).orElse(""),
                    job.map(status -> status.cause().toString()).orElse(""),
                    job.map(JobStatus::ended)
                            .map(ended -> ended.truncatedTo(ChronoUnit.SECONDS).toString())
                            .orElse(""),
                    job.map(JobStatus::seconds).orElse(0.0));
        }
    }

    /** @param isRunning whether a job of the kind runs */
    private static <R> RecordBean bean(String text, Jobs<R> jobs, Supplier<Boolean> isRunning, Starter<R> starter) {
        return new RecordBean(text)
                .attribute(boolean.class, "Running", "True while one runs", "true or false", isRunning)
                .operation(
                        "start",
                        "Starts one in the background, or continues one that was stopped; fails if one is running",
                        () -> start(jobs, starter))
                .operation(
                        "stop",
                        "Stops the running one after what is at hand; does nothing if none is running",
                        () -> stop(jobs));
    }

    private static <R> RecordBean bean(String text, Jobs<R> jobs, Starter<R> starter) {
        return bean(text, jobs, () -> jobs.running().isPresent(), starter);
    }

    private static RecordBean paced(RecordBean bean, PaceSetting pace, StartTimes times) {
        return bean.setting(
                        boolean.class,
                        "Paused",
                        "True if they wait: the running one after the container at hand",
                        "true or false",
                        Limits.NONE,
                        pace::isPaused,
                        paused -> pace.setPaused(Cause.JMX, Objects.requireNonNull(paused)))
                .setting(
                        long.class,
                        "RateBytesPerSecond",
                        "Bound on what one reads and writes; 0 means no bound",
                        "bytes per second",
                        Limits.range(PaceSetting.NO_BOUND, PaceSetting.BYTES_PER_SECOND_MAX),
                        pace::bytesPerSecond,
                        rate -> pace.setBytesPerSecond(Cause.JMX, Objects.requireNonNull(rate)))
                .attribute(
                        String.class,
                        "Schedule",
                        "When they start, as a cron expression, or off",
                        "cron expression",
                        times::rule)
                .attribute(
                        String.class,
                        "Next",
                        "The next time of the schedule, with its offset from UTC; empty if there is none",
                        "ISO 8601",
                        times::nextText);
    }

    /** Shows all kinds of jobs alike, and stops one of them. */
    static RecordBean all(List<? extends Jobs<?>> kinds) {
        return new RecordBean("The jobs of all kinds: how far the running ones are, and how the latest ended")
                .attribute(
                        CompositeData[].class,
                        "Latest",
                        "The running or latest job of each kind; none of a kind that did not run since the mount",
                        "jobs",
                        () -> Composite.all(
                                "Job",
                                "A job",
                                kinds.stream()
                                        .flatMap(jobs ->
                                                jobs
                                                        .latest()
                                                        .map(status -> JobFigures.of(jobs.name(), status))
                                                        .stream())
                                        .toList()))
                .operation(
                        boolean.class,
                        "stop",
                        "Stops a running job after what is at hand; returns false if it is not running any more",
                        "true or false",
                        List.of(
                                new RecordBean.Parameter(
                                        String.class, "kind", "What it is, such as scrub", "name", Limits.NONE),
                                new RecordBean.Parameter(
                                        long.class,
                                        "number",
                                        "Its number, as Latest has it",
                                        "number",
                                        Limits.range(1, Long.MAX_VALUE))),
                        arguments -> kinds.stream()
                                .filter(jobs -> jobs.name().equals(arguments[0]))
                                .findFirst()
                                .orElseThrow(() -> new IllegalArgumentException("there are no jobs of this kind"))
                                .stop(Cause.JMX, (long) arguments[1]));
    }

    private record DamagedFileFigures(
            @Figure(value = "All its names, from the volume's root; empty if it has none", unit = "paths")
            String paths,

            @Figure(value = "Its inode", unit = "inode number")
            long inode,

            @Figure(value = "Damaged bytes", unit = "bytes") long damagedBytes,

            @Figure(value = "Offset of the first of them", unit = "bytes")
            long firstOffset) {
        static DamagedFileFigures of(FileDamage file) {
            return new DamagedFileFigures(
                    Printable.line(String.join(", ", file.paths())),
                    file.inode(),
                    file.bytes(),
                    file.ranges().isEmpty() ? 0 : file.ranges().get(0).from());
        }
    }

    private record DamageFigures(
            @Figure(value = "Files with damaged bytes; this and the following are of the last list", unit = "files")
            long lastFiles,

            @Figure(value = "Damaged bytes of them", unit = "bytes")
            long lastBytes,

            @Figure(value = "Damaged places in which no file has bytes", unit = "places")
            long lastPlacesWithoutFiles) {
        static DamageFigures of(AttendedJobs<DamageReport> lists) {
            Optional<DamageReport> report = ended(lists).map(JobStatus::report);
            return new DamageFigures(
                    number(report, DamageReport::allFiles),
                    number(report, DamageReport::bytes),
                    number(report, DamageReport::garbageFaults));
        }
    }

    /** @param list makes a list, which reads all names */
    static RecordBean damagedFiles(AttendedJobs<DamageReport> lists, RunningJob.Work<DamageReport> list) {
        return new RecordBean("Lists the files with damaged bytes")
                .attribute(
                        boolean.class,
                        "Running",
                        "True while a list is made",
                        "true or false",
                        () -> lists.running().isPresent())
                .attribute(
                        CompositeData[].class,
                        "LastList",
                        "The files of the last list: at most " + LISTED_MAX,
                        "files",
                        () -> Composite.all(
                                "DamagedFile",
                                "A file with damaged bytes",
                                ended(lists).map(JobStatus::report).stream()
                                        .flatMap(report -> report.files().stream())
                                        .limit(LISTED_MAX)
                                        .map(DamagedFileFigures::of)
                                        .toList()))
                .figures(DamageFigures.class, () -> DamageFigures.of(lists))
                .figures(Last.class, () -> Last.of(ended(lists)))
                .operation(
                        Effect.LOOKS,
                        void.class,
                        "start",
                        "Makes a list in the background; fails if one is being made",
                        "none",
                        List.of(),
                        arguments -> {
                            start(lists, cause -> lists.start(cause, list));
                            return null;
                        });
    }

    private record CollectionFigures(
            @Figure(
                    value = "Stored bytes that the running or latest collection has handled; 0 if there was none",
                    unit = "bytes")
            long bytesDone,

            @Figure(
                    value = "Stored bytes that the running or latest collection has to handle; 0 while it chooses"
                            + " containers",
                    unit = "bytes")
            long bytes,

            @Figure(
                    value = "Bytes that the running or latest collection has returned to the file system",
                    unit = "bytes")
            long returnedBytes,

            @Figure("the last collection") CollectionReport last) {
        static CollectionFigures of(GarbageCollections collections) {
            Optional<JobStatus<Collected>> latest = collections.latest();
            return new CollectionFigures(
                    number(latest, JobStatus::done),
                    number(latest, JobStatus::of),
                    number(latest, status -> Collected.of(status).returnedBytes()),
                    collections
                            .last()
                            .map(JobStatus::report)
                            .map(Collected::report)
                            .orElse(CollectionReport.NONE));
        }
    }

    /** The last collection is one that has ended and was no dry run, also one before this mount. */
    static RecordBean collections(GarbageCollections collections, StartTimes times) {
        RecordBean bean = bean(
                "Returns the space of deleted data to the file system",
                collections,
                // Also one that the volume began because a disk is full.
                () -> collections.running().isPresent() || collections.isRunningByItself(),
                collections::start);
        return paced(bean, collections.pace(), times)
                .setting(
                        String.class,
                        "Recompress",
                        "How hard collections compress anew what has stayed since the one before: off, or zstd:1"
                                + " to zstd:19",
                        "name",
                        Limits.NONE,
                        () -> collections.recompress().toString(),
                        level -> recompress(collections, level))
                .figures(CollectionFigures.class, () -> CollectionFigures.of(collections))
                .figures(Last.class, () -> Last.of(collections.last()));
    }

    private static void recompress(GarbageCollections collections, @Nullable String level) {
        boolean unused = Beans.call(() -> {
            collections.setRecompress(Cause.JMX, RecompressLevel.parse(String.valueOf(level)));
            return true;
        });
    }

    private record ScrubFigures(
            @Figure(
                    value = "What the running scrub verifies: containers, references, ssd or index; empty if none is"
                            + " running",
                    unit = "name")
            String phase,

            @Figure(
                    value = "Bytes that the running or latest scrub of this mount has verified, copies on the SSD"
                            + " included; 0 if there was none",
                    unit = "bytes")
            long bytesDone,

            @Figure(value = "Bytes that it has to verify; 0 while that is not known", unit = "bytes")
            long bytes,

            @Figure(
                    value = "When the last complete scrub ended, in UTC, also before this mount; empty if there was "
                            + "none",
                    unit = "ISO 8601")
            String lastEnded,

            @Figure(value = "Bytes that it verified; this and the following are 0 if there was none", unit = "bytes")
            long lastBytes,

            @Figure(value = "Frames that were not what was written", unit = "frames")
            long lastDamagedFrames,

            @Figure(value = "Containers whose directories were damaged, or that were missing", unit = "containers")
            long lastDamagedContainers,

            @Figure(value = "Containers about which the metadata said something else", unit = "containers")
            long lastContradictions,

            @Figure(value = "Chunks that files refer to as other content than they are", unit = "chunks")
            long lastWrongReferences,

            @Figure(value = "Other things in the metadata that did not agree", unit = "findings")
            long lastMetadataDefects,

            @Figure(value = "Copies on the SSD that it verified", unit = "copies")
            long lastSsdCopies,

            @Figure(
                    value = "Copies on the SSD that were not what was written, and were dropped; nothing is lost by "
                            + "them",
                    unit = "copies")
            long lastWrongSsdCopies,

            @Figure(value = "Sampled entries of the fingerprint index", unit = "entries")
            long lastIndexEntries,

            @Figure(
                    value = "Sampled entries of the index that named a chunk with other content, and were removed",
                    unit = "entries")
            long lastWrongIndexEntries,

            @Figure(
                    value = "Sampled entries of the index that named no stored chunk, and were removed",
                    unit = "entries")
            long lastStaleIndexEntries,

            @Figure(
                    value = "Sampled chunks that the index did not have: their content is stored again when it is"
                            + " written again",
                    unit = "chunks")
            long lastNotIndexedChunks) {
        static ScrubFigures of(Scrubs scrubs) {
            Optional<ScrubRecord> last = Beans.call(scrubs::last);
            ScrubTotals found = last.map(ScrubRecord::totals).orElse(ScrubTotals.NONE);
            return new ScrubFigures(
                    scrubs.running().map(JobStatus::stage).orElse(""),
                    number(scrubs.latest(), JobStatus::done),
                    number(scrubs.latest(), JobStatus::of),
                    last.map(record -> Instant.ofEpochMilli(record.endedMs()).toString())
                            .orElse(""),
                    found.allBytes(),
                    found.damagedFrames(),
                    found.damagedContainers(),
                    found.contradictions(),
                    found.references().wrong(),
                    found.references().defects(),
                    found.ssd().copies(),
                    found.ssd().wrong(),
                    found.index().entries(),
                    found.index().wrong(),
                    found.index().stale(),
                    found.index().notIndexed());
        }
    }

    static RecordBean scrubs(Scrubs scrubs, StartTimes times) {
        return paced(
                        bean("Reads and verifies everything that the volume stores", scrubs, scrubs::start),
                        scrubs.pace(),
                        times)
                .figures(ScrubFigures.class, () -> ScrubFigures.of(scrubs));
    }

    private record HealFigures(
            @Figure(value = "Chunks with references that are known to be damaged and not healed", unit = "chunks")
            long damagedChunks,

            @Figure(
                    value = "Chunks that were healed since the volume was mounted, also by passes that nobody asked "
                            + "for",
                    unit = "chunks")
            long healedChunks,

            @Figure(value = "Chunks that the last pass healed, or the running one so far", unit = "chunks")
            long lastHealedChunks) {}

    static RecordBean heals(Heals heals, Beans.Call<List<Fault>> damage) {
        return bean("Lists damaged chunks, and gives them their bytes back", heals, heals::start)
                .figures(
                        HealFigures.class,
                        () -> new HealFigures(
                                heals.unhealedChunks(),
                                heals.healedChunks(),
                                number(heals.latest().map(JobStatus::report), HealReport::healedChunks)))
                .figures(Last.class, () -> Last.of(ended(heals)))
                .operation(
                        Effect.LOOKS,
                        List.class,
                        "listDamage",
                        "Lists what is damaged, a place a line: missing packs, frames and slots of containers",
                        "text",
                        List.of(),
                        arguments -> Beans.call(
                                () -> damage.run().stream().map(JobBeans::line).toList()));
    }

    private static String line(Fault fault) {
        String place = fault.pack().isEmpty()
                ? "container " + fault.container() + ", slots " + fault.firstSlot() + " to " + (fault.endSlot() - 1)
                : "pack " + fault.pack();
        return place + ": " + Printable.line(fault.note().reason());
    }

    private record JoinFigures(
            @Figure(
                    value = "What the running pass does, or the latest did last: comparing or joining; empty if there"
                            + " was none",
                    unit = "name")
            String phase,

            @Figure(
                    value = "How much of the phase is done: containers while it compares, bytes of files while it "
                            + "joins",
                    unit = "containers or bytes")
            long done,

            @Figure(value = "All that the phase has to do, in the same unit", unit = "containers or bytes")
            long of,

            @Figure(
                    value = "Estimated bytes of second and further copies of chunks that are stored, before "
                            + "compression",
                    unit = "bytes")
            long storedTwiceBytes,

            @Figure(
                    value = "Bytes of second and further copies that it found; this and the following are 0 unless it"
                            + " is done",
                    unit = "bytes")
            long lastFoundBytes,

            @Figure(
                    value = "Bytes of these to which no file refers any more: the next collection returns their space",
                    unit = "bytes")
            long lastJoinedBytes,

            @Figure(value = "Copies that were to be kept and could not be read", unit = "chunks")
            long lastUnreadableChunks) {
        static JoinFigures of(Joins joins) {
            Optional<JobStatus<JoinReport>> latest = joins.latest();
            Optional<JoinReport> report = latest.map(JobStatus::report);
            return new JoinFigures(
                    latest.map(JobStatus::stage).orElse(""),
                    number(latest, JobStatus::done),
                    number(latest, JobStatus::of),
                    joins.estimate().bytes(),
                    number(report, JoinReport::foundBytes),
                    number(report, JoinReport::joinedBytes),
                    number(report, JoinReport::unreadableChunks));
        }
    }

    /** The last pass may be running. */
    static RecordBean joins(Joins joins) {
        return bean(
                        "Joins chunks that are stored more than once, because the fingerprint index did not find them",
                        joins,
                        joins::start)
                .figures(JoinFigures.class, () -> JoinFigures.of(joins))
                .figures(Last.class, () -> Last.of(joins.latest()));
    }

    private record CheckFigures(
            @Figure(value = "What the running check does; empty if none is running", unit = "text")
            String step,

            @Figure(value = "Containers that the last one compared", unit = "containers")
            long lastContainers,

            @Figure(
                    value = "What it found, with what to do, a finding a line; empty if nothing, or if there was none",
                    unit = "text")
            List<String> lastFindings) {
        static CheckFigures of(VolumeChecks checks) {
            StoredVolume.Report report =
                    ended(checks).map(JobStatus::report).orElse(new StoredVolume.Report(0, List.of()));
            return new CheckFigures(
                    checks.running().map(JobBeans::step).orElse(""),
                    report.containers(),
                    report.findings().stream().map(VolumeChecks::line).toList());
        }
    }

    static RecordBean checks(VolumeChecks checks) {
        return bean(
                        "Compares containers, container table, counts, index and Map table, without reading chunks",
                        checks,
                        checks::start)
                .figures(CheckFigures.class, () -> CheckFigures.of(checks))
                .figures(Last.class, () -> Last.of(ended(checks)));
    }

    private static String step(JobStatus<?> status) {
        return status.of() == 0 ? status.stage() : status.stage() + ", " + status.done() + " of " + status.of();
    }

    /**
     * @param copies makes copies
     * @param data the data location
     */
    static RecordBean backups(MetadataBackups backups, MetadataBackups.Copies copies, Path data) {
        return new RecordBean("Backs up the metadata of a volume")
                .attribute(
                        String.class,
                        "Folder",
                        "Folder of the automatic backups",
                        "path",
                        () -> backups.folder().toString())
                .attribute(
                        List.class,
                        "Backups",
                        "The backups, the oldest first: number, time in UTC, bytes, and whether garbage was"
                                + " collected since",
                        "text",
                        () -> Beans.call(() -> backups.list().stream()
                                .map(backup -> line(backups, backup))
                                .toList()))
                .attribute(
                        long.class,
                        "Failures",
                        "Automatic backups that failed since the volume was mounted",
                        "backups",
                        () -> backups.failures())
                .operation(
                        Effect.REACHES_THE_MACHINE,
                        long.class,
                        "backUpTo",
                        "Adds a backup to a folder, reads it back to verify it, and returns its number",
                        "number",
                        List.of(new RecordBean.Parameter(
                                String.class, "folder", "Absolute path of the folder", "path", Limits.NONE)),
                        arguments -> copyTo(copies, String.valueOf(arguments[0])))
                .operation(
                        boolean.class,
                        "acceptRestored",
                        "After a restore of the metadata: gives the replaced metadata up, so that garbage is"
                                + " collected again. What SDFS has written or claimed since the backup may be"
                                + " collected then",
                        "true or false",
                        List.of(),
                        arguments -> Beans.call(() -> OtherHistory.giveUp(FileDirectory.open(data))));
    }

    private static String line(MetadataBackups backups, Backup backup) {
        Instant made = Instant.EPOCH.plusNanos(backup.origin().createdNs()).truncatedTo(ChronoUnit.SECONDS);
        return backup.number() + ": " + made + ", " + backup.bytes() + " bytes"
                + (backups.isOlderThanCollection(backup) ? ", older than a collection of garbage" : "");
    }

    private static long copyTo(MetadataBackups.Copies copies, String folder) {
        Path target = Path.of(folder);
        return Beans.call(() -> copies.copyTo(target).backup().number());
    }

    private static <R> void start(Jobs<R> jobs, Starter<R> starter) {
        if (Beans.call(() -> starter.start(Cause.JMX)).isEmpty()) {
            throw new IllegalStateException("a " + jobs.name() + " is running already");
        }
    }

    private static void stop(Jobs<?> jobs) {
        boolean unused = jobs.stop(Cause.JMX);
    }

    /** Returns the latest job, unless it is running. */
    private static <R> Optional<JobStatus<R>> ended(Jobs<R> jobs) {
        return jobs.latest().filter(status -> !status.isRunning());
    }

    private static <T> long number(Optional<T> report, ToLongFunction<T> figure) {
        return report.map(figure::applyAsLong).orElse(0L);
    }
}
