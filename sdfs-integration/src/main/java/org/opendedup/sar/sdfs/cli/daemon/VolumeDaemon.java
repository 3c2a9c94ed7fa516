package org.opendedup.sar.sdfs.cli.daemon;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.sdfs.audit.Actor;
import org.opendedup.sar.sdfs.audit.AuditLog;
import org.opendedup.sar.sdfs.backup.BackupTimer;
import org.opendedup.sar.sdfs.check.VolumeChecks;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.DefinitionReport;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.command.ProgressLog;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.control.BackupControl;
import org.opendedup.sar.sdfs.cli.control.BackupTargets;
import org.opendedup.sar.sdfs.cli.control.CareHandlers;
import org.opendedup.sar.sdfs.cli.control.ControlServer;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Handler;
import org.opendedup.sar.sdfs.cli.control.DamageControl;
import org.opendedup.sar.sdfs.cli.control.IndexControl;
import org.opendedup.sar.sdfs.cli.control.JmxControl;
import org.opendedup.sar.sdfs.cli.control.JoinControl;
import org.opendedup.sar.sdfs.cli.control.JvmControl;
import org.opendedup.sar.sdfs.cli.control.OwnFolders;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.cli.control.SnapshotControl;
import org.opendedup.sar.sdfs.cli.control.SnapshotDiffControl;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.daemon.MountService.MountedVolume;
import org.opendedup.sar.sdfs.cli.files.FileControl;
import org.opendedup.sar.sdfs.cli.files.QuotaControl;
import org.opendedup.sar.sdfs.cli.files.SendControl;
import org.opendedup.sar.sdfs.cli.files.TierControl;
import org.opendedup.sar.sdfs.cli.mounts.MountAccess;
import org.opendedup.sar.sdfs.cli.mounts.UnmountHelper;
import org.opendedup.sar.sdfs.cli.mounts.VolumeFolders;
import org.opendedup.sar.sdfs.cli.report.CareJobs;
import org.opendedup.sar.sdfs.cli.report.DaemonState;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.StatusReport;
import org.opendedup.sar.sdfs.collect.CollectionRecord;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.collect.LowSpaceCollections;
import org.opendedup.sar.sdfs.collect.RecompressSetting;
import org.opendedup.sar.sdfs.config.BackupSettings;
import org.opendedup.sar.sdfs.config.Schedule;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.sdfs.heal.Heals;
import org.opendedup.sar.sdfs.health.HealthRules;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.sdfs.jmx.ObjectStoreFigures;
import org.opendedup.sar.sdfs.jmx.Recent;
import org.opendedup.sar.sdfs.jmx.SarAdministration;
import org.opendedup.sar.sdfs.jmx.SarFigures;
import org.opendedup.sar.sdfs.jmx.VolumeFigures;
import org.opendedup.sar.sdfs.jmx.VolumeRegistration;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.ScheduleTimer;
import org.opendedup.sar.sdfs.join.IdleJoins;
import org.opendedup.sar.sdfs.join.Joins;
import org.opendedup.sar.sdfs.keys.KeyHeaderWatch;
import org.opendedup.sar.sdfs.metrics.MetricsServer;
import org.opendedup.sar.sdfs.scrub.ScrubResumer;
import org.opendedup.sar.sdfs.scrub.Scrubs;
import org.opendedup.sar.sdfs.snapshot.SnapshotCare;
import org.opendedup.sar.sdfs.wear.SsdWear;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.config.MemoryPlan;
import org.opendedup.sar.volume.store.RemoteStatistics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves one mounted volume until it is unmounted: takes the volume's lock, opens the control socket, opens and mounts
 * the volume, waits, closes it, and removes its run files. The same steps follow umount, SIGTERM and {@code sdfscli
 * unmount}, because the latter two only end the mount.
 */
public final class VolumeDaemon {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeDaemon.class);

    /** State of the volume; commands see it in lower case. */
    enum Phase {
        OPENING,
        MOUNTED,
        CLOSING;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** In the state of a volume that is being closed: the bytes that its object store lacks. */
    public static final String TO_SEND = "toSendBytes";

    /** Reported instead of {@link Phase#MOUNTED} while programs use a mount that was detached from its mount point. */
    static final String DETACHED = "detached";

    /** See {@link DaemonState#permissionsTakenAway}. */
    static final String NARROWED = "permissionsTakenAway";

    /** In the answer to a ping: the options of the mount, separated by commas, with its memory budget in bytes. */
    public static final String OPTIONS = "options";

    /** See {@link DaemonState#lastEnd}. */
    public static final String LAST_END = "lastEnd";

    /** See {@link DaemonState#stopped}. */
    static final String STOPPED = "stopped";

    private final VolumeDefinition definition;
    private final Path volumeFile;
    private final RunFiles files;
    private final Path mountPoint;
    private final String options;
    private final MountService service;
    private final @Nullable VolumeKeys keys;
    private final ServiceManager manager;
    private final Map<String, Handler> commands;
    /** Whether nothing of the volume changes while it is mounted. */
    private final boolean readOnly;

    private final ServedMount mount;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final ClosingOutcome outcome = new ClosingOutcome();

    private final LastEnd lastEnd;
    /** What the previous daemon left. */
    private volatile Optional<LastEnd.Found> foundEnd = Optional.empty();

    private volatile Phase phase = Phase.OPENING;
    private volatile boolean stopRequested;
    private volatile int narrowed;
    private volatile @Nullable MountedVolume mounted;

    /**
     * @param keys of an encrypted volume; null: it is not encrypted
     * @param commands handlers that are not the volume's, and change nothing, by their names; they answer from the
     *     first moment on
     */
    public VolumeDaemon(
            Path volumeFile,
            RunFiles files,
            Path mountPoint,
            String options,
            MountService service,
            @Nullable VolumeKeys keys,
            ServiceManager manager,
            Map<String, Handler> commands) {
        this.definition = files.definition();
        this.volumeFile = volumeFile;
        this.files = files;
        this.mountPoint = mountPoint;
        this.options = options;
        this.service = service;
        this.keys = keys;
        this.manager = manager;
        this.commands = commands;
        readOnly = service.isReadOnly(options);
        mount = new ServedMount(mountPoint);
        lastEnd = new LastEnd(files.lastEnd());
    }

    /**
     * Serves the volume. Returns when it is unmounted and closed.
     *
     * @param opened runs once the volume is open and mounted
     * @throws CommandFailedException if another process serves it
     * @throws IOException if it cannot be opened or mounted, or was not closed cleanly
     */
    public void serve(Runnable opened) throws IOException, CommandFailedException, InterruptedException {
        try {
            VolumeFolders folders = VolumeFolders.of(definition);
            folders.requireSafe();
            PrivateFiles.createFolders(files.runFolder());
            PrivateFiles.createFolders(files.logFolder());
            PrivateFiles.createFolders(files.socketFolder());
            try (LockFile lock = LockFile.tryAcquire(files.lock()).orElseThrow(this::servedElsewhere);
                    AuditLog audit = new AuditLog(files.audit());
                    StatusSocket status = StatusSocket.open(name(), service.statusGroup(options), this::refusedStatus);
                    ControlServer control = ControlServer.start(files.socket(), always(), this::refusal)) {
                Set<String> reading = new HashSet<>(commands.keySet());
                Collections.addAll(
                        reading, FileControl.FILE, FileControl.TOP, QuotaControl.REPORT, SnapshotDiffControl.COMMAND);
                control.audit(reading, audit::request);
                status.add(always());
                control.add(commands);
                LOG.info(
                        "opening volume {}, process {}",
                        name(),
                        ProcessHandle.current().pid());
                narrow(folders);
                foundEnd = lastEnd.found();
                foundEnd.ifPresent(end -> LOG.warn("volume {}: {}", name(), end.text()));
                mountAndWait(control, status, audit, opened);
                LOG.info("volume {} closed", name());
            }
        } finally {
            ended.countDown();
        }
    }

    private void narrow(VolumeFolders folders) throws IOException {
        narrowed = readOnly ? 0 : folders.narrow();
        if (narrowed > 0) {
            LOG.warn("volume {}: {}", name(), VolumeFolders.report(narrowed));
        }
    }

    private CommandFailedException servedElsewhere() {
        return new CommandFailedException("the volume '" + name() + "' is served by another process already");
    }

    private void mountAndWait(ControlServer control, StatusSocket statusSocket, AuditLog audit, Runnable opened)
            throws IOException, InterruptedException {
        if (stopRequested) {
            LOG.info("asked to end before the volume was opened; not mounted");
            return;
        }
        MountedVolume volume = service.mount(definition, keys, mountPoint, options);
        opened.run();
        Actor mounter = Actor.ofStarter();
        audit.note("mounted", mounter, Map.of("mountPoint", mountPoint.toString(), "options", options));
        if (!readOnly) {
            lastEnd.begin();
        }
        var settings = new KeptSettings(volumeFile, definition, mountPoint, readOnly);
        // An administrator may have changed it.
        settings.copy();
        if (!readOnly) {
            forgetLeftLocations(volume, settings);
        }
        var administration =
                new SarAdministration(name(), volume.sar(), definition.sar(), settings::keep, settings::checkLocation);
        Clock clock = Clock.system(ZoneId.systemDefault());
        Map<String, Handler> whileMounted = new HashMap<>();
        var schedule = schedule(definition.garbageCollectionSchedule());
        var recompress = new RecompressSetting(
                definition.recompress(),
                definition.config().compression(),
                level -> settings.keep(VolumeOptions.RECOMPRESS, level));
        try (BackupTimer backups = BackupTimer.start(
                        name(), volume.backups(), backupSettings(definition), volume.collector()::isRunning, clock);
                // Closed after the collections and restores, for whose ends a pass may wait.
                var heals = new Heals(name(), volume.heal(), clock);
                var joins = new Joins(name(), volume.joins(), clock);
                IdleJoins idleJoins = IdleJoins.start(joins);
                var collections = new GarbageCollections(
                        name(),
                        volume.collector(),
                        volume.moves(),
                        recompress,
                        mount::checkWritable,
                        new CollectionRecord(files.lastCollection()),
                        clock);
                var scrubs = new Scrubs(name(), volume.scrub(), clock);
                LowSpaceCollections lowSpace = LowSpaceCollections.start(collections);
                ScheduleTimer timer = ScheduleTimer.start(
                        "the collection of garbage",
                        () -> collections.start(Cause.SCHEDULE).isPresent(),
                        () -> collections.last().map(JobStatus::began).or(() -> Optional.of(scrubs.volumeMade())),
                        schedule,
                        clock);
                ScheduleTimer scrubTimer = ScheduleTimer.start(
                        "the scrub",
                        () -> scrubs.start(Cause.SCHEDULE).isPresent(),
                        () -> scrubs.last()
                                .map(last -> Instant.ofEpochMilli(last.beganMs()))
                                .or(() -> Optional.of(scrubs.volumeMade())),
                        schedule(definition.scrubSchedule()),
                        clock);
                var snapshots = new SnapshotCare(name(), volume.snapshots(), definition.snapshotKeep(), clock);
                ScheduleTimer snapshotTimer = ScheduleTimer.start(
                        "the snapshot",
                        snapshots::startScheduled,
                        () -> snapshots.lastScheduled().or(() -> Optional.of(scrubs.volumeMade())),
                        schedule(definition.snapshotSchedule()),
                        clock);
                ScrubResumer resumer = readOnly ? null : ScrubResumer.start(scrubs, ScrubResumer.DELAY);
                SsdWear wear = SsdWear.start(
                        files.ssdWear(),
                        () -> volume.sar().status().log().allWrittenBytes(),
                        () -> volume.sar().status().location(),
                        clock);
                var health = new HealthWatch<>(
                        new DaemonHealth(
                                files,
                                volume,
                                administration,
                                collections,
                                timer,
                                scrubs,
                                new KeyHeaderWatch(definition.config().withKeys(keys)),
                                snapshotTimer,
                                foundEnd),
                        HealthRules::findings)) {
            Recent<VolumeFigures> figures =
                    VolumeFigures.of(name(), mountPoint.toString(), volume::statistics, volume::space, health);
            BackupTargets backupTargets = BackupTargets.of(volume.backups(), settings::known, mountPoint);
            try (var checks = new VolumeChecks(name(), volume.files()::check, clock);
                    var copies = new AttendedJobs<MetadataBackups.Copy>(name(), BackupControl.COMMAND);
                    DamageControl damageControl = new DamageControl(name(), volume.damage());
                    var snapshotDiffs = new SnapshotDiffControl(name(), volume.snapshots());
                    FileControl fileControl = new FileControl(
                            name(),
                            volume.files(),
                            new OwnFolders(() -> settings.known().stores()),
                            mountPoint);
                    var quotaControl = new QuotaControl(name(), volume.files());
                    var sendControl = new SendControl(name(), volume.files());
                    var tierControl = new TierControl(
                            name(),
                            volume.tier(),
                            Objects.toString(definition.sar().ssdLocation(), ""));
                    DailyLine daily = DailyLine.start(figures, wear, files.console(), clock);
                    VolumeRegistration registration = VolumeRegistration.register(name(), beans -> {
                        beans.volume(figures, volume::resume, () -> unmountFor(volume), health, volume::findChunks);
                        beans.settings(VolumeOptions.ALL, definition.values());
                        beans.sar(administration);
                        beans.fastTier(volume.tier()::figures, tierControl);
                        if (volume.remote() != null) {
                            beans.objectStore(() -> ObjectStoreFigures.of(
                                    Objects.requireNonNull(volume.remote()),
                                    figures.now().store().storedBytes()));
                        }
                        beans.files(fileControl);
                        beans.readLatencies(() -> volume.latencies().reads());
                        beans.collections(collections, timer);
                        beans.scrubs(scrubs, scrubTimer);
                        beans.heals(
                                heals,
                                () -> volume.damage()
                                        .list((step, done, of) -> {})
                                        .faults());
                        beans.damagedFiles(damageControl.jobs(), volume.damage()::list);
                        beans.joins(joins);
                        beans.checks(checks);
                        beans.backups(
                                volume.backups(),
                                backupTargets,
                                definition.config().locations().data());
                        List<Jobs<?>> kinds = new ArrayList<>(fileControl.jobs());
                        kinds.addAll(List.of(
                                collections,
                                scrubs,
                                heals,
                                joins,
                                checks,
                                copies,
                                damageControl.jobs(),
                                snapshotDiffs.jobs(),
                                quotaControl.jobs(),
                                sendControl.jobs(),
                                tierControl.jobs()));
                        beans.jobs(kinds);
                        beans.parameters();
                        beans.history(clock);
                    });
                    var jmx = new JmxControl(name());
                    UnmountHelper helper = UnmountHelper.enter(name(), mountPoint)) {
                volume.damage().listen(registration.damageListener());
                mounted = volume;
                var sar = new SarControl(administration, volume::explain);
                var jobs = new CareJobs(collections, timer, scrubs, scrubTimer, heals, checks, copies);
                var index = new IndexControl(
                        definition.engineConfig().index(),
                        volume,
                        kind -> settings.keep(VolumeOptions.INDEX, kind),
                        joins);
                Map<String, Handler> changing = new HashMap<>(CareHandlers.of(jobs, backupTargets, volume::findChunks));
                changing.put(JoinControl.COMMAND, new JoinControl(joins)::answer);
                changing.put(IndexControl.COMMAND, (arguments, caller) -> index.answer(arguments));
                whileMounted.put(
                        VolumeCommands.STATS, (arguments, caller) -> stats(figures, administration, volume, wear));
                var metrics =
                        new DaemonMetrics(name(), ProgramVersion.text(), figures, health, administration, wear, volume);
                whileMounted.put(
                        VolumeCommands.METRICS, (arguments, caller) -> Map.of(VolumeCommands.TEXT, metrics.get()));
                whileMounted.put(VolumeCommands.RESUME, (arguments, caller) -> resume(volume));
                whileMounted.put(SarControl.COMMAND, (arguments, caller) -> sar.answer(arguments));
                whileMounted.put(
                        SnapshotControl.COMMAND,
                        LeasedCommands.of(new SnapshotControl(snapshots, snapshotTimer)::answer, volume::lease));
                whileMounted.put(SnapshotDiffControl.COMMAND, LeasedCommands.of(snapshotDiffs::answer, volume::lease));
                whileMounted.put(DamageControl.COMMAND, damageControl::answer);
                whileMounted.putAll(tierControl.handlers());
                whileMounted.putAll(LeasedCommands.of(fileControl.handlers(), volume::lease));
                whileMounted.putAll(LeasedCommands.of(quotaControl.handlers(), volume::lease));
                whileMounted.putAll(LeasedCommands.of(sendControl.handlers(), volume::lease));
                whileMounted.put(JmxControl.COMMAND, (arguments, caller) -> jmx.answer(arguments));
                whileMounted.put(
                        VolumeCommands.STATUS,
                        (arguments, caller) -> StatusReport.of(
                                daemonState(users()),
                                health,
                                figures.now().store(),
                                jobs,
                                administration.status(),
                                wear.figures()));
                var optionChanges = new OptionChanges(settings, this::checkMemory, now -> {
                    volume.resize(now.config().capacityBytes(), now.config().maximumFullPercentage());
                    timer.change(schedule(now.garbageCollectionSchedule()));
                    scrubTimer.change(schedule(now.scrubSchedule()));
                    snapshotTimer.change(schedule(now.snapshotSchedule()));
                    snapshots.change(now.snapshotKeep());
                    backups.change(backupSettings(now));
                });
                changing.put(VolumeCommands.SET, (arguments, caller) -> optionChanges.answer(arguments));
                Path firstLocation = definition.config().locations().data();
                var locations = new LocationChanges(
                        settings, folder -> Volume.prepareDataLocation(firstLocation, folder), volume::addDataLocation);
                whileMounted.put(VolumeCommands.ADD_LOCATION, (arguments, caller) -> locations.add(arguments));
                whileMounted.putAll(LeasedCommands.changing(changing, volume::lease));
                Optional<MountTable.Entry> entry = mount.begin();
                control.add(whileMounted);
                statusSocket.add(whileMounted);
                // Before mount.sdfs learns it, and ends: the service manager must know then which process serves the
                // mount.
                manager.ready(mountPoint);
                phase = Phase.MOUNTED;
                health.listen(judgement -> manager.health(mountPoint, judgement.findings()));
                health.start();
                LOG.info("mounted {} on {}", name(), mountPoint);
                entry.ifPresent(table -> LOG.info("{}", MountAccess.of(table).text()));
                if (stopRequested) {
                    volume.endMount();
                }
                ProgramFiles.hold();
                try (Closeable served = serveMetrics(metrics)) {
                    volume.awaitEnd();
                }
                mount.ended();
                manager.stopping();
                endCommands(control, statusSocket, whileMounted.keySet());
                syncForBackup(volume);
            }
        } finally {
            endCommands(control, statusSocket, whileMounted.keySet());
            try {
                close(volume);
            } finally {
                audit.note("unmounted", Actor.NOBODY, Map.of("closedInOrder", closedInOrder()));
            }
        }
    }

    /**
     * Serves the figures to Prometheus, if the options of the mount ask for it. A volume is mounted also if that is not
     * possible, as when another process has the port: it is more important than its figures.
     */
    private Closeable serveMetrics(DaemonMetrics metrics) {
        InetSocketAddress address = service.metricsAddress(options).orElse(null);
        if (address == null) {
            return () -> {};
        }
        try {
            MetricsServer server = MetricsServer.start(address, metrics);
            boolean isOpen = !server.address().getAddress().isLoopbackAddress();
            LOG.info(
                    "figures for Prometheus at http://{}/metrics, without a password{}",
                    MetricsServer.shown(server.address()),
                    isOpen ? ": whoever reaches this address can read them" : "");
            return server;
        } catch (IOException e) {
            LOG.error("volume {}: {}", name(), e.getMessage());
            return () -> {};
        }
    }

    /** Answers no command any more that needs the mounted volume. */
    private void endCommands(ControlServer control, StatusSocket statusSocket, Set<String> whileMounted) {
        phase = Phase.CLOSING;
        control.remove(whileMounted);
        control.add(always());
        statusSocket.remove(whileMounted);
        statusSocket.add(always());
    }

    /** The volume works as well with a file that still names a location that it has left. */
    private void forgetLeftLocations(MountedVolume volume, KeptSettings settings) {
        try {
            volume.whenLeft(settings::forget);
        } catch (IOException e) {
            LOG.warn("volume {}: a data location that was left stays in its file: {}", name(), e.toString());
        }
    }

    private BackupSettings backupSettings(VolumeDefinition of) {
        return readOnly ? BackupSettings.of(BackupSettings.OFF, 1) : of.backups();
    }

    /** @throws IllegalArgumentException if the memory budget of a volume does not suffice for such a mount */
    private void checkMemory(VolumeDefinition of) {
        var unused = MemoryPlan.of(of.engineConfig().withRequests(service.requestBuffers(options)));
    }

    private Schedule schedule(String text) {
        return Schedule.parse(readOnly ? Schedule.OFF : text);
    }

    /** The last backup has what is committed. A failure is that of closing, which tries again and reports it. */
    private void syncForBackup(MountedVolume volume) {
        try {
            volume.sync();
        } catch (IOException | RuntimeException e) {
            LOG.warn("volume {}: its changes are not durable yet: {}", name(), e.toString());
        }
    }

    private void close(MountedVolume volume) throws IOException {
        LOG.info("unmounted {}; flushing and closing the volume", name());
        long startNanos = System.nanoTime();
        Exception failure = new IOException("closing broke off");
        try (var progress = new ProgressLog(() -> {
            long toSend = toSend(volume);
            return "closing volume " + name()
                    + (toSend == 0 ? "" : ", " + ByteSize.rounded(toSend) + " to send to its object store");
        })) {
            volume.close();
            failure = null;
        } catch (IOException | RuntimeException e) {
            failure = e;
            throw e;
        } finally {
            report(ClosingReport.of(failure));
        }
        LOG.info("flushed and closed in {} ms", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
    }

    /** Returns the bytes that the object store lacks; 0 if it lacks nothing, or there is none. */
    private static long toSend(@Nullable MountedVolume volume) {
        RemoteStatistics remote = volume == null ? null : volume.remote();
        return remote == null ? 0 : remote.missingBytes();
    }

    /** Returns the bytes that the object store lacks; 0 if it lacks nothing, or there is none. */
    long toSend() {
        return toSend(mounted);
    }

    /** Tells the service manager that the end takes longer than its limit. */
    void stopsLater() {
        manager.stopsLater();
    }

    private void report(ClosingReport report) {
        if (!report.closed()) {
            LOG.error("volume {} was not closed in order: {}", name(), report.text("; "));
        }
        // One that changed nothing mends nothing of what the last one left.
        if (!readOnly || !report.closed()) {
            lastEnd.end(report);
        }
        outcome.complete(report);
    }

    /** Returns whether the volume was closed in order; false while it is not closed. */
    boolean closedInOrder() {
        return outcome.isInOrder();
    }

    /** Ends the mount now, or as soon as there is one, even if programs use it. {@link #serve} then returns. */
    public void requestStop() {
        stopRequested = true;
        MountedVolume volume = mounted;
        if (volume == null) {
            return;
        }
        try {
            volume.endMount();
        } catch (IOException e) {
            LOG.error("the mount of {} on {} cannot be ended", name(), mountPoint, e);
        }
    }

    /** Waits for {@link #serve} to return; returns false if it lasts longer than the limit. */
    boolean awaitEnd(Duration limit) throws InterruptedException {
        return ended.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    boolean hasEnded() {
        return ended.getCount() == 0;
    }

    /** Returns what answers the commands whether the volume is mounted or not. */
    private Map<String, Handler> always() {
        return Map.of(
                VolumeCommands.PING,
                (arguments, caller) -> {
                    Map<String, Object> state = state();
                    state.put(OPTIONS, MountArguments.withBudget(options, definition));
                    if (phase == Phase.CLOSING && definition.store() != null) {
                        state.put(TO_SEND, toSend(mounted));
                    }
                    return state;
                },
                VolumeCommands.INFO,
                (arguments, caller) -> {
                    // Commands may have changed it since the volume was mounted.
                    Map<String, Object> info = DefinitionReport.of(volumeFile, files, VolumeFile.read(volumeFile));
                    info.putAll(Json.values(daemonState(users())));
                    return info;
                },
                VolumeCommands.STATUS,
                (arguments, caller) -> unknown(),
                JvmControl.COMMAND,
                (arguments, caller) -> JvmControl.answer(arguments),
                VolumeCommands.KEY,
                // What is asked for is recorded, as every command is.
                (arguments, caller) -> Map.of(),
                VolumeCommands.UNMOUNT,
                (arguments, caller) -> unmount());
    }

    private Map<String, Object> unmount() throws IOException {
        // A second request waits for the end of the first.
        if (phase != Phase.CLOSING) {
            MountedVolume volume = mounted;
            if (volume == null || phase == Phase.OPENING) {
                throw new IOException(refusal(VolumeCommands.UNMOUNT));
            }
            mount.unmount(volume);
        }
        Map<String, Object> closing = outcome.await();
        Map<String, Object> state = state();
        state.putAll(closing);
        return state;
    }

    /** Unmounts for JMX, whose client cannot wait until the volume is closed: its bean is then gone. */
    private boolean unmountFor(MountedVolume volume) throws IOException {
        mount.unmount(volume);
        return true;
    }

    private Map<String, Object> stats(
            Recent<VolumeFigures> figures, SarAdministration administration, MountedVolume volume, SsdWear wear)
            throws IOException {
        Map<String, Object> stats = Json.values(figures.now());
        stats.put("sar", SarFigures.Summary.of(administration.status()));
        stats.put("fastTier", volume.tier().figures());
        stats.put("ssdWear", wear.figures());
        RemoteStatistics remote = volume.remote();
        if (remote != null) {
            stats.put(
                    "objectStore",
                    ObjectStoreFigures.of(remote, figures.now().store().storedBytes()));
        }
        return stats;
    }

    private Map<String, Object> resume(MountedVolume volume) throws IOException {
        boolean resumed = volume.resume();
        Map<String, Object> state = state();
        state.put(VolumeCommands.RESUMED, resumed);
        return state;
    }

    private String refusal(String command) {
        return phase == Phase.MOUNTED
                ? "the command '" + command + "' is not known to the daemon"
                : "the volume is " + phase.text();
    }

    private String refusedStatus(String command) {
        return VolumeCommands.OF_STATUS.contains(command)
                ? refusal(command)
                : "the command '" + command + "' is for root: your group may only read the status";
    }

    /** Returns the status while the volume is being opened or closed. */
    private Map<String, Object> unknown() throws IOException {
        var report = new LinkedHashMap<String, Object>();
        report.put("name", name());
        report.put("health", StatusReport.UNKNOWN);
        report.putAll(state());
        return report;
    }

    /** Returns whether it is unmounted for all but the programs with open files, as {@code umount -l} leaves it. */
    private boolean isDetached() throws IOException {
        return phase == Phase.MOUNTED && mount.isDetached();
    }

    /** Returns the state as it is known at once: who waits for the daemon asks for it all the time. */
    private Map<String, Object> state() throws IOException {
        return Json.values(daemonState(null));
    }

    /** Returns the processes that use a detached mount; null if it is not detached. */
    private @Nullable List<String> users() throws IOException {
        return isDetached() ? mount.users() : null;
    }

    private DaemonState daemonState(@Nullable List<String> users) throws IOException {
        MountedVolume volume = mounted;
        String stopped = volume == null ? null : volume.stopped();
        return new DaemonState(
                isDetached() ? DETACHED : phase.text(),
                mountPoint.toString(),
                ProcessHandle.current().pid(),
                narrowed > 0 ? narrowed : null,
                foundEnd.map(LastEnd.Found::text).orElse(null),
                stopped == null ? null : Printable.line(stopped),
                users,
                null,
                volume == null ? null : volume.lease());
    }

    private String name() {
        return definition.config().name();
    }
}
