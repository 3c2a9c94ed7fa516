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
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.collect.CollectionReport;
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
import org.opendedup.sar.sdfs.jmx.RecordBean.Limits;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.PaceSetting;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.join.Joins;
import org.opendedup.sar.sdfs.scrub.Scrubs;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.care.DamageReport.Fault;
import org.opendedup.sar.volume.config.OtherHistory;

/** The beans of the kinds of jobs: what runs, what the last one did, and how one is started and stopped. */
final class JobBeans {
    private JobBeans() {}

    /** Starts a job with the default settings. */
    @FunctionalInterface
    private interface Starter<R> {
        /** @throws IOException if none may run; the message says why */
        Optional<JobStatus<R>> start(Cause cause) throws IOException;
    }

    static RecordBean collections(GarbageCollections collections, StartTimes times) {
        PaceSetting pace = collections.pace();
        // Those that have ended and were no dry runs, also before this mount.
        Supplier<Optional<JobStatus<Collected>>> last = collections::last;
        return new RecordBean("Returns the space of deleted data to the file system")
                .attribute(
                        boolean.class,
                        "Running",
                        "True while a collection runs, also one that the volume began because a disk is full",
                        "true or false",
                        () -> collections.running().isPresent() || collections.isRunningByItself())
                .setting(
                        boolean.class,
                        "Paused",
                        "True if collections wait: the running one after the container at hand",
                        "true or false",
                        Limits.NONE,
                        pace::isPaused,
                        paused -> pace.setPaused(Cause.JMX, Objects.requireNonNull(paused)))
                .setting(
                        long.class,
                        "RateBytesPerSecond",
                        "Bound on what a collection reads and writes; 0 means no bound",
                        "bytes per second",
                        Limits.range(PaceSetting.NO_BOUND, PaceSetting.BYTES_PER_SECOND_MAX),
                        pace::bytesPerSecond,
                        rate -> pace.setBytesPerSecond(Cause.JMX, Objects.requireNonNull(rate)))
                .attribute(
                        String.class,
                        "Schedule",
                        "When collections start, as a cron expression, or off",
                        "cron expression",
                        times::rule)
                .attribute(
                        String.class,
                        "Next",
                        "The next time of the schedule, with its offset from UTC; empty if there is none",
                        "ISO 8601",
                        times::nextText)
                .setting(
                        String.class,
                        "Recompress",
                        "How hard collections compress anew what has stayed since the one before: off, or zstd:1"
                                + " to zstd:19",
                        "name",
                        Limits.NONE,
                        () -> collections.recompress().toString(),
                        level -> recompress(collections, level))
                .attribute(
                        long.class,
                        "BytesDone",
                        "Stored bytes that the running or latest collection has handled; 0 if there was none",
                        "bytes",
                        () -> number(collections.latest(), JobStatus::done))
                .attribute(
                        long.class,
                        "Bytes",
                        "Stored bytes that the running or latest collection has to handle; 0 while it chooses"
                                + " containers",
                        "bytes",
                        () -> number(collections.latest(), JobStatus::of))
                .attribute(
                        long.class,
                        "ReturnedBytes",
                        "Bytes that the running or latest collection has returned to the file system",
                        "bytes",
                        () -> number(
                                collections.latest(),
                                status -> Collected.of(status).returnedBytes()))
                .attribute(
                        String.class,
                        "LastState",
                        "How the last collection ended that was no dry run: done, stopped or failed; empty if"
                                + " there was none",
                        "name",
                        () -> state(last.get()))
                .attribute(
                        String.class,
                        "LastCause",
                        "What started it: sdfscli, JMX or the schedule; empty if there was none",
                        "name",
                        () -> cause(last.get()))
                .attribute(
                        String.class,
                        "LastEnded",
                        "When it ended, in UTC; empty if there was none",
                        "ISO 8601",
                        () -> ended(last.get()))
                .attribute(double.class, "LastSeconds", "How long it ran", "seconds", () -> seconds(last.get()))
                .attribute(
                        long.class,
                        "LastStoredBytes",
                        "Stored bytes of all containers when it began; this and the following are 0 unless it is done",
                        "bytes",
                        () -> ofLast(last.get(), CollectionReport::storedBytes))
                .attribute(
                        long.class,
                        "LastGarbageBytes",
                        "Stored bytes of chunks that no file referred to then, estimated",
                        "bytes",
                        () -> ofLast(last.get(), CollectionReport::garbageBytes))
                .attribute(
                        long.class,
                        "LastVictims",
                        "Containers that it chose",
                        "containers",
                        () -> ofLast(last.get(), CollectionReport::victims))
                .attribute(
                        long.class,
                        "LastRemoved",
                        "Containers that it removed",
                        "containers",
                        () -> ofLast(last.get(), CollectionReport::removed))
                .attribute(
                        long.class,
                        "LastRewritten",
                        "Containers that it wrote anew without their garbage",
                        "containers",
                        () -> ofLast(last.get(), CollectionReport::rewritten))
                .attribute(
                        long.class,
                        "LastRecompressed",
                        "Containers that it wrote anew only to compress them harder",
                        "containers",
                        () -> ofLast(last.get(), CollectionReport::recompressed))
                .attribute(
                        long.class,
                        "LastIncompressible",
                        "Containers that harder compression would not have made smaller",
                        "containers",
                        () -> ofLast(last.get(), CollectionReport::incompressible))
                .attribute(
                        long.class,
                        "LastRecompressSavedBytes",
                        "Bytes that harder compression has saved",
                        "bytes",
                        () -> ofLast(last.get(), CollectionReport::recompressSavedBytes))
                .attribute(
                        long.class,
                        "LastCopiedBytes",
                        "Bytes that it wrote for rewritten and recompressed containers",
                        "bytes",
                        () -> ofLast(last.get(), CollectionReport::copiedBytes))
                .attribute(
                        long.class,
                        "LastReturnedBytes",
                        "Bytes that it returned for removed and rewritten containers, less the bytes written",
                        "bytes",
                        () -> ofLast(last.get(), CollectionReport::returnedBytes))
                .attribute(
                        long.class,
                        "LastStrayBytes",
                        "Bytes that it returned and no container had: what a crash or a failed write had left",
                        "bytes",
                        () -> ofLast(last.get(), CollectionReport::strayBytes))
                .attribute(
                        long.class,
                        "LastKeptContainers",
                        "Chosen containers that stay, because a chunk of them cannot be read",
                        "containers",
                        () -> ofLast(last.get(), CollectionReport::keptContainers))
                .attribute(
                        long.class,
                        "LastLeftBytes",
                        "Stored bytes of garbage that it left, estimated",
                        "bytes",
                        () -> ofLast(last.get(), CollectionReport::leftBytes))
                .operation(
                        "start",
                        "Starts a collection in the background; fails if one is running",
                        () -> start(collections, collections::start))
                .operation(
                        "stop",
                        "Stops the running collection after the container at hand; does nothing if none is running",
                        () -> stop(collections));
    }

    private static void recompress(GarbageCollections collections, @Nullable String level) {
        boolean unused = Beans.call(() -> {
            collections.setRecompress(Cause.JMX, RecompressLevel.parse(String.valueOf(level)));
            return true;
        });
    }

    private static long ofLast(Optional<JobStatus<Collected>> last, ToLongFunction<CollectionReport> figure) {
        return number(last.map(JobStatus::report).map(Collected::report), figure);
    }

    static RecordBean scrubs(Scrubs scrubs, StartTimes times) {
        PaceSetting pace = scrubs.pace();
        // Also before this mount.
        Supplier<Optional<ScrubRecord>> last = () -> Beans.call(scrubs::last);
        return new RecordBean("Reads and verifies everything that the volume stores")
                .attribute(
                        boolean.class,
                        "Running",
                        "True while a scrub runs",
                        "true or false",
                        () -> scrubs.running().isPresent())
                .attribute(
                        String.class,
                        "Phase",
                        "What the running scrub verifies: containers, references, ssd or index; empty if none is"
                                + " running",
                        "name",
                        () -> scrubs.running().map(JobStatus::stage).orElse(""))
                .setting(
                        boolean.class,
                        "Paused",
                        "True if scrubs wait: the running one after the container at hand",
                        "true or false",
                        Limits.NONE,
                        pace::isPaused,
                        paused -> pace.setPaused(Cause.JMX, Objects.requireNonNull(paused)))
                .setting(
                        long.class,
                        "RateBytesPerSecond",
                        "Bound on what a scrub reads; 0 means no bound",
                        "bytes per second",
                        Limits.range(PaceSetting.NO_BOUND, PaceSetting.BYTES_PER_SECOND_MAX),
                        pace::bytesPerSecond,
                        rate -> pace.setBytesPerSecond(Cause.JMX, Objects.requireNonNull(rate)))
                .attribute(
                        String.class,
                        "Schedule",
                        "When scrubs start, as a cron expression, or off",
                        "cron expression",
                        times::rule)
                .attribute(
                        String.class,
                        "Next",
                        "The next time of the schedule, with its offset from UTC; empty if there is none",
                        "ISO 8601",
                        times::nextText)
                .attribute(
                        long.class,
                        "BytesDone",
                        "Bytes that the running or latest scrub of this mount has verified, copies on the SSD"
                                + " included; 0 if there was none",
                        "bytes",
                        () -> number(scrubs.latest(), JobStatus::done))
                .attribute(
                        long.class,
                        "Bytes",
                        "Bytes that it has to verify; 0 while that is not known",
                        "bytes",
                        () -> number(scrubs.latest(), JobStatus::of))
                .attribute(
                        String.class,
                        "LastEnded",
                        "When the last complete scrub ended, in UTC, also before this mount; empty if there was none",
                        "ISO 8601",
                        () -> last.get()
                                .map(record ->
                                        Instant.ofEpochMilli(record.endedMs()).toString())
                                .orElse(""))
                .attribute(
                        long.class,
                        "LastBytes",
                        "Bytes that it verified; this and the following are 0 if there was none",
                        "bytes",
                        () -> number(last.get().map(ScrubRecord::totals), ScrubTotals::allBytes))
                .attribute(
                        long.class,
                        "LastDamagedFrames",
                        "Frames that were not what was written",
                        "frames",
                        () -> number(last.get().map(ScrubRecord::totals), ScrubTotals::damagedFrames))
                .attribute(
                        long.class,
                        "LastDamagedContainers",
                        "Containers whose directories were damaged, or that were missing",
                        "containers",
                        () -> number(last.get().map(ScrubRecord::totals), ScrubTotals::damagedContainers))
                .attribute(
                        long.class,
                        "LastContradictions",
                        "Containers about which the metadata said something else",
                        "containers",
                        () -> number(last.get().map(ScrubRecord::totals), ScrubTotals::contradictions))
                .attribute(
                        long.class,
                        "LastWrongReferences",
                        "Chunks that files refer to as other content than they are",
                        "chunks",
                        () -> number(
                                last.get().map(ScrubRecord::totals),
                                totals -> totals.references().wrong()))
                .attribute(
                        long.class,
                        "LastMetadataDefects",
                        "Other things in the metadata that did not agree",
                        "findings",
                        () -> number(
                                last.get().map(ScrubRecord::totals),
                                totals -> totals.references().defects()))
                .attribute(
                        long.class,
                        "LastSsdCopies",
                        "Copies on the SSD that it verified",
                        "copies",
                        () -> number(
                                last.get().map(ScrubRecord::totals),
                                totals -> totals.ssd().copies()))
                .attribute(
                        long.class,
                        "LastWrongSsdCopies",
                        "Copies on the SSD that were not what was written, and were dropped; nothing is lost by them",
                        "copies",
                        () -> number(
                                last.get().map(ScrubRecord::totals),
                                totals -> totals.ssd().wrong()))
                .attribute(
                        long.class,
                        "LastIndexEntries",
                        "Sampled entries of the fingerprint index",
                        "entries",
                        () -> number(
                                last.get().map(ScrubRecord::totals),
                                totals -> totals.index().entries()))
                .attribute(
                        long.class,
                        "LastWrongIndexEntries",
                        "Sampled entries of the index that named a chunk with other content, and were removed",
                        "entries",
                        () -> number(
                                last.get().map(ScrubRecord::totals),
                                totals -> totals.index().wrong()))
                .attribute(
                        long.class,
                        "LastStaleIndexEntries",
                        "Sampled entries of the index that named no stored chunk, and were removed",
                        "entries",
                        () -> number(
                                last.get().map(ScrubRecord::totals),
                                totals -> totals.index().stale()))
                .attribute(
                        long.class,
                        "LastNotIndexedChunks",
                        "Sampled chunks that the index did not have: their content is stored again when it is"
                                + " written again",
                        "chunks",
                        () -> number(
                                last.get().map(ScrubRecord::totals),
                                totals -> totals.index().notIndexed()))
                .operation(
                        "start",
                        "Starts a scrub in the background, or continues one that was stopped; fails if one is running",
                        () -> start(scrubs, scrubs::start))
                .operation(
                        "stop",
                        "Stops the running scrub after the container at hand; does nothing if none is running",
                        () -> stop(scrubs));
    }

    static RecordBean heals(Heals heals, DamageList damage) {
        Supplier<Optional<JobStatus<HealReport>>> last = () -> ended(heals);
        return new RecordBean("Lists damaged chunks, and gives them their bytes back")
                .attribute(
                        boolean.class,
                        "Running",
                        "True while a pass runs that was asked for",
                        "true or false",
                        () -> heals.running().isPresent())
                .attribute(
                        long.class,
                        "DamagedChunks",
                        "Chunks with references that are known to be damaged and not healed",
                        "chunks",
                        heals::unhealedChunks)
                .attribute(
                        long.class,
                        "HealedChunks",
                        "Chunks that were healed since the volume was mounted, also by passes that nobody asked for",
                        "chunks",
                        heals::healedChunks)
                .attribute(
                        String.class,
                        "LastState",
                        "How the last pass ended that was asked for: done, stopped or failed; empty if there was none",
                        "name",
                        () -> state(last.get()))
                .attribute(
                        String.class,
                        "LastEnded",
                        "When it ended, in UTC; empty if there was none",
                        "ISO 8601",
                        () -> ended(last.get()))
                // So far, while a pass is running.
                .attribute(
                        long.class,
                        "LastHealedChunks",
                        "Chunks that it healed",
                        "chunks",
                        () -> number(heals.latest().map(JobStatus::report), HealReport::healedChunks))
                .operation(
                        List.class,
                        "listDamage",
                        "Lists what is damaged, a place a line: missing packs, frames and slots of containers",
                        "text",
                        List.of(),
                        arguments -> Beans.call(
                                () -> damage.list().stream().map(JobBeans::line).toList()))
                .operation(
                        "start",
                        "Starts a pass over all damaged chunks in the background; fails if one is running",
                        () -> start(heals, heals::start))
                .operation(
                        "stop",
                        "Stops the running pass after the container at hand; does nothing if none is running",
                        () -> stop(heals));
    }

    private static String line(Fault fault) {
        String place = fault.pack().isEmpty()
                ? "container " + fault.container() + ", slots " + fault.firstSlot() + " to " + (fault.endSlot() - 1)
                : "pack " + fault.pack();
        return place + ": " + Printable.line(fault.note().reason());
    }

    static RecordBean joins(Joins joins) {
        // Also the running one.
        Supplier<Optional<JobStatus<JoinReport>>> last = joins::latest;
        return new RecordBean(
                        "Joins chunks that are stored more than once, because the fingerprint index did not find them")
                .attribute(
                        boolean.class,
                        "Running",
                        "True while a pass runs",
                        "true or false",
                        () -> joins.running().isPresent())
                .attribute(
                        String.class,
                        "Phase",
                        "What the running pass does, or the latest did last: comparing or joining; empty if there"
                                + " was none",
                        "name",
                        () -> last.get().map(JobStatus::stage).orElse(""))
                .attribute(
                        long.class,
                        "Done",
                        "How much of the phase is done: containers while it compares, bytes of files while it joins",
                        "containers or bytes",
                        () -> number(last.get(), JobStatus::done))
                .attribute(
                        long.class,
                        "Of",
                        "All that the phase has to do, in the same unit",
                        "containers or bytes",
                        () -> number(last.get(), JobStatus::of))
                .attribute(
                        long.class,
                        "StoredTwiceBytes",
                        "Estimated bytes of second and further copies of chunks that are stored, before compression",
                        "bytes",
                        () -> joins.estimate().bytes())
                .attribute(
                        String.class,
                        "LastState",
                        "State of the latest pass: running, done, stopped or failed; empty if there was none",
                        "name",
                        () -> state(last.get()))
                .attribute(
                        String.class,
                        "LastCause",
                        "What started the latest pass: sdfscli, JMX or an idle volume; empty if there was none",
                        "name",
                        () -> cause(last.get()))
                .attribute(double.class, "LastSeconds", "How long it has run", "seconds", () -> seconds(last.get()))
                .attribute(
                        long.class,
                        "LastFoundBytes",
                        "Bytes of second and further copies that it found; this and the following are 0 unless it"
                                + " is done",
                        "bytes",
                        () -> number(last.get().map(JobStatus::report), JoinReport::foundBytes))
                .attribute(
                        long.class,
                        "LastJoinedBytes",
                        "Bytes of these to which no file refers any more: the next collection returns their space",
                        "bytes",
                        () -> number(last.get().map(JobStatus::report), JoinReport::joinedBytes))
                .attribute(
                        long.class,
                        "LastUnreadableChunks",
                        "Copies that were to be kept and could not be read",
                        "chunks",
                        () -> number(last.get().map(JobStatus::report), JoinReport::unreadableChunks))
                .operation(
                        "start",
                        "Starts a pass in the background that joins all that it finds; fails if one is running",
                        () -> start(joins, joins::start))
                .operation(
                        "stop",
                        "Stops the running pass; what is joined stays joined. Does nothing if none is running",
                        () -> stop(joins));
    }

    static RecordBean checks(VolumeChecks checks) {
        Supplier<Optional<JobStatus<StoredVolume.Report>>> last = () -> ended(checks);
        return new RecordBean(
                        "Compares containers, container table, counts, index and Map table, without reading chunks")
                .attribute(
                        boolean.class,
                        "Running",
                        "True while a check runs",
                        "true or false",
                        () -> checks.running().isPresent())
                .attribute(
                        String.class,
                        "Step",
                        "What the running check does; empty if none is running",
                        "text",
                        () -> checks.running().map(JobBeans::step).orElse(""))
                .attribute(
                        String.class,
                        "LastState",
                        "How the last check of this mount ended: done, stopped or failed; empty if there was none",
                        "name",
                        () -> state(last.get()))
                .attribute(
                        String.class,
                        "LastEnded",
                        "When it ended, in UTC; empty if there was none",
                        "ISO 8601",
                        () -> ended(last.get()))
                .attribute(
                        long.class,
                        "LastContainers",
                        "Containers that it compared",
                        "containers",
                        () -> number(last.get().map(JobStatus::report), StoredVolume.Report::containers))
                .attribute(
                        List.class,
                        "LastFindings",
                        "What it found, with what to do, a finding a line; empty if nothing, or if there was none",
                        "text",
                        () -> last.get()
                                .map(JobStatus::report)
                                .map(report -> report.findings().stream()
                                        .map(VolumeChecks::line)
                                        .toList())
                                .orElse(List.of()))
                .operation(
                        "start",
                        "Starts a check in the background; fails if one is running",
                        () -> start(checks, checks::start))
                .operation("stop", "Stops the running check; does nothing if none is running", () -> stop(checks));
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

    private static <R> String state(Optional<JobStatus<R>> job) {
        return job.map(status -> status.state().toString()).orElse("");
    }

    private static <R> String cause(Optional<JobStatus<R>> job) {
        return job.map(status -> status.cause().toString()).orElse("");
    }

    private static <R> String ended(Optional<JobStatus<R>> job) {
        return job.map(JobStatus::ended)
                .map(ended -> ended.truncatedTo(ChronoUnit.SECONDS).toString())
                .orElse("");
    }

    private static <R> double seconds(Optional<JobStatus<R>> job) {
        return job.map(JobStatus::seconds).orElse(0.0);
    }

    private static <T> long number(Optional<T> report, ToLongFunction<T> figure) {
        return report.map(figure::applyAsLong).orElse(0L);
    }
}
