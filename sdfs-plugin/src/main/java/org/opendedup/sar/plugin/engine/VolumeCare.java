package org.opendedup.sar.plugin.engine;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionWatcher;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.sdfs.audit.Actor;
import org.opendedup.sar.sdfs.audit.AuditLog;
import org.opendedup.sar.sdfs.backup.BackupTimer;
import org.opendedup.sar.sdfs.check.VolumeChecks;
import org.opendedup.sar.sdfs.cli.control.BackupControl;
import org.opendedup.sar.sdfs.cli.control.BackupTargets;
import org.opendedup.sar.sdfs.cli.control.CareHandlers;
import org.opendedup.sar.sdfs.cli.control.ControlServer;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Handler;
import org.opendedup.sar.sdfs.cli.control.IndexControl;
import org.opendedup.sar.sdfs.cli.control.JmxControl;
import org.opendedup.sar.sdfs.cli.control.OwnFolders;
import org.opendedup.sar.sdfs.cli.control.PluginCommands;
import org.opendedup.sar.sdfs.cli.control.PluginFiles;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.report.CareJobs;
import org.opendedup.sar.sdfs.cli.report.DaemonState;
import org.opendedup.sar.sdfs.cli.report.IndexReport;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.StatusReport;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.collect.RecompressSetting;
import org.opendedup.sar.sdfs.config.PluginOptions;
import org.opendedup.sar.sdfs.config.PluginVolumeFile;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.sdfs.heal.Heals;
import org.opendedup.sar.sdfs.health.Finding;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.sdfs.health.PluginRemedies;
import org.opendedup.sar.sdfs.health.ScrubFacts;
import org.opendedup.sar.sdfs.health.StoreFacts;
import org.opendedup.sar.sdfs.health.StoreRules;
import org.opendedup.sar.sdfs.jmx.Recent;
import org.opendedup.sar.sdfs.jmx.SarAdministration;
import org.opendedup.sar.sdfs.jmx.SarFigures;
import org.opendedup.sar.sdfs.jmx.SarOfVolume;
import org.opendedup.sar.sdfs.jmx.StoreFigures;
import org.opendedup.sar.sdfs.jmx.VolumeRegistration;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.IntervalTimer;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.keys.KeyHeaderWatch;
import org.opendedup.sar.sdfs.metrics.PrometheusText;
import org.opendedup.sar.sdfs.scrub.ScrubResumer;
import org.opendedup.sar.sdfs.scrub.Scrubs;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.chunks.ChunkMaintenance;
import org.opendedup.sar.volume.chunks.ChunkVolume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What keeps the volume in order while SDFS has it open: scrubs, healing, collections, checks and backups of the
 * metadata, the judgement whether it is well, and the MXBeans of all of them, with the names that they have in a
 * process of mount.sdfs.
 */
final class VolumeCare implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(VolumeCare.class);
    private static final Duration SAMPLE_AGE_MAX = Duration.ofMillis(500);

    /** At least this often a scrub must be complete to be late after the time that {@link StoreRules} name. */
    private static final Duration MONTHLY = Duration.ofDays(31);

    private final VolumeConfig config;
    private final ChunkVolume volume;
    private final ChunkMaintenance maintenance;
    private final PluginVolumeFile file;
    private final KeyHeaderWatch keyHeader;
    private final boolean collects;
    /** Time from the end of a scrub to the next one; zero: none starts by itself. */
    private final Duration scrubInterval;

    private final RecompressSetting recompress;
    private final BackupTimer backups;
    private final Heals heals;
    private final GarbageCollections collections;
    private final VolumeChecks checks;
    private final AttendedJobs<MetadataBackups.Copy> copies;
    private final Scrubs scrubs;
    private final IntervalTimer scrubTimer;
    private final ScrubResumer resumer;
    private final HealthWatch<StoreFacts> health;
    private final Recent<StoreFigures> figures;
    private final @Nullable SarAdministration sar;
    private final @Nullable VolumeRegistration registration;
    private final JmxControl jmx;
    private final AuditLog audit;
    /** Answers commands; null if no command can reach the process. */
    private volatile @Nullable ControlServer control;

    private VolumeCare(ChunkVolume volume, VolumeConfig config, PluginVolumeFile file) {
        this.file = file;
        this.volume = volume;
        this.config = config;
        keyHeader = new KeyHeaderWatch(config);
        collects = file.get(PluginOptions.COLLECT);
        scrubInterval = Duration.ofDays(file.get(PluginOptions.SCRUB_DAYS));
        String bean = file.jmxName();
        maintenance = volume.maintenance();
        String name = config.name();
        audit = new AuditLog(PluginFiles.audit(name, config.locations().metadata()));
        Clock clock = Clock.systemDefaultZone();
        // A restored backup lacks the references that SDFS counted since: nothing else knows them.
        backups = BackupTimer.start(
                name,
                maintenance.backups(),
                file.definition().backups().withEachEnd(),
                maintenance.collector()::isRunning,
                clock);
        heals = new Heals(name, maintenance.heal(), clock);
        // What 'gc set' changes lasts until the next mount: SDFS writes its volume file.
        recompress = new RecompressSetting(file.definition().recompress(), config.compression(), level -> {});
        collections =
                new GarbageCollections(name, maintenance.collector(), null, recompress, this::checkCollects, clock);
        checks = new VolumeChecks(name, maintenance.check()::run, clock);
        copies = new AttendedJobs<>(name, BackupControl.COMMAND);
        scrubs = new Scrubs(name, maintenance.scrub(), clock);
        scrubTimer = IntervalTimer.start(
                "the scrub", () -> scrubs.start(Cause.SCHEDULE).isPresent(), this::lastScrub, scrubInterval, clock);
        resumer = ScrubResumer.start(scrubs, ScrubResumer.DELAY);
        PluginRemedies remedies =
                new PluginRemedies(name, bean, config.locations().hashDb(), () -> control != null);
        health = new HealthWatch<>(this::facts, facts -> StoreRules.findings(facts, remedies));
        long begunNanos = System.nanoTime();
        figures = new Recent<>(SAMPLE_AGE_MAX, () -> figures(bean, begunNanos));
        sar = sar();
        registration = register(bean);
        jmx = new JmxControl(bean);
    }

    /**
     * Begins to take care of a volume, and logs how it is.
     *
     * @param config as the volume was opened, with its keys
     * @param file the settings, of which JMX has a name of its own
     */
    static VolumeCare begin(ChunkVolume volume, VolumeConfig config, PluginVolumeFile file) {
        VolumeCare care = new VolumeCare(volume, config, file);
        try {
            care.answerCommands(file.jmxName());
            care.audit.note("mounted", Actor.ofStarter(), Map.of());
            care.health.start();
            care.logHealth();
            return care;
        } catch (RuntimeException e) {
            Closing.after(e, care::close);
            throw e;
        }
    }

    private void logHealth() {
        try {
            List<Finding> findings = health.judge().findings();
            if (findings.isEmpty()) {
                log.info("the volume {} is well", config.name());
            }
            findings.forEach(finding -> log.error("the volume {} is {}", config.name(), finding.line()));
        } catch (IOException e) {
            log.warn("whether the volume {} is well is not known: {}", config.name(), e.toString());
        }
    }

    /** Returns the registration of the beans; null if they cannot be registered, which is no reason not to mount. */
    private @Nullable VolumeRegistration register(String bean) {
        try {
            VolumeRegistration all = VolumeRegistration.register(bean, beans -> {
                beans.chunkVolume(figures, maintenance::resume, health, maintenance.chunks()::find);
                beans.collections(collections, StartTimes.NEVER);
                beans.scrubs(scrubs, scrubTimer);
                beans.heals(heals, maintenance.damage()::faults);
                beans.checks(checks);
                beans.backups(
                        maintenance.backups(),
                        backupTargets(),
                        config.locations().data());
                beans.settings(PluginOptions.ALL, file.values());
                if (sar != null) {
                    beans.sar(sar);
                }
                beans.jobs(List.of(collections, scrubs, heals, checks, copies));
                beans.parameters();
                beans.history(Clock.systemUTC());
            });
            maintenance.damage().listen(all.damageListener());
            return all;
        } catch (IllegalArgumentException | IllegalStateException e) {
            log.warn("the figures of the volume {} are not in JMX: {}", bean, e.getMessage());
            return null;
        }
    }

    private BackupTargets backupTargets() {
        VolumeConfig.Locations locations = config.locations();
        var stores = new LinkedHashMap<String, Path>();
        stores.put("data location", locations.data());
        stores.put("metadata location", locations.metadata());
        stores.put("index location", locations.hashDb());
        if (locations.ssd() != null) {
            stores.put("SSD location", locations.ssd());
        }
        return new BackupTargets(maintenance.backups(), new OwnFolders(() -> stores), null);
    }

    private void answerCommands(String bean) {
        Path socket = PluginFiles.socket(
                config.name(), config.locations().metadata(), System.getenv(PluginFiles.RUN_DIRECTORY));
        control = CareControl.begin(config.name(), socket, handlers(bean), audit);
    }

    /** Returns what answers commands: that of a mount, as far as a volume without files has it. */
    private Map<String, Handler> handlers(String bean) {
        String name = config.name();
        var state = new DaemonState("mounted", null, ProcessHandle.current().pid(), null, null, null, null, bean);
        var jobs = new CareJobs(collections, StartTimes.NEVER, scrubs, scrubTimer, heals, checks, copies);
        Map<String, Handler> handlers = CareHandlers.of(jobs, backupTargets(), maintenance.chunks()::find);
        handlers.put(VolumeCommands.PING, (arguments, caller) -> state);
        handlers.put(JmxControl.COMMAND, (arguments, caller) -> jmx.answer(arguments));
        handlers.put(
                VolumeCommands.STATUS,
                (arguments, caller) -> StatusReport.ofChunks(
                        name, state, health, figures.now(), jobs, volume.hot().status()));
        handlers.put(
                VolumeCommands.METRICS,
                (arguments, caller) -> Map.of(
                        VolumeCommands.TEXT,
                        new PrometheusText(name)
                                .figures(figures.get())
                                .figures("sar", SarFigures.of(volume.hot().status()))
                                .text()));
        handlers.put(VolumeCommands.STATS, (arguments, caller) -> {
            Map<String, Object> stats = Json.values(figures.now());
            stats.put("name", name);
            stats.put("sar", SarFigures.Summary.of(volume.hot().status()));
            return stats;
        });
        // What is asked for is recorded, as every command is.
        handlers.put(VolumeCommands.KEY, (arguments, caller) -> Map.of());
        handlers.put(VolumeCommands.RESUME, (arguments, caller) -> {
            boolean resumed = maintenance.resume();
            Map<String, Object> now = Json.values(state);
            now.put(VolumeCommands.RESUMED, resumed);
            return now;
        });
        handlers.put(IndexControl.COMMAND, (arguments, caller) -> {
            if (!PluginCommands.has(IndexControl.COMMAND, arguments)) {
                throw new IOException(PluginCommands.refusal(name));
            }
            return IndexReport.of(
                    config.index(), config.index(), maintenance.condition().index(), null);
        });
        handlers.put(SarControl.COMMAND, (arguments, caller) -> {
            if (sar == null) {
                throw new IOException("the volume has no SSD; " + VolumeOptions.SSD_LOCATION.ofPlugin()
                        + " on <extended-config> gives it one at the next mount");
            }
            return new SarControl(sar, (path, from, visitor) -> {
                        throw new IOException(PluginCommands.refusal(name));
                    })
                    .answer(arguments);
        });
        return handlers;
    }

    private StoreFigures figures(String bean, long begunNanos) throws IOException {
        return StoreFigures.of(
                bean,
                begunNanos,
                volume.statistics(),
                maintenance.deviceFreeBytes(),
                maintenance.reservedBytes(),
                health.judge());
    }

    /** Returns the administration of the SSD; null if the volume has none, or its settings contradict each other. */
    private @Nullable SarAdministration sar() {
        Path ssd = config.locations().ssd();
        HotSettings hot = config.hot();
        if (ssd == null || hot == null) {
            return null;
        }
        try {
            return new SarAdministration(
                    config.name(),
                    new SarOfVolume(volume.hot()),
                    new SarSettings(ssd, hot),
                    changed -> log.info("the setting lasts until the volume is mounted again: change it on"
                            + " <extended-config> as well"),
                    this::checkLocation);
        } catch (IllegalArgumentException e) {
            log.warn("the figures of the SSD are not shown: {}", e.getMessage());
            return null;
        }
    }

    private void checkLocation(Path location) {
        VolumeConfig.Locations locations = config.locations();
        for (Path other : List.of(locations.data(), locations.metadata(), locations.hashDb())) {
            if (!location.isAbsolute() || location.startsWith(other) || other.startsWith(location)) {
                throw new IllegalArgumentException("the SSD location must be an absolute path, and not lie in " + other
                        + " or contain it: " + location);
            }
        }
    }

    private Instant lastScrub() throws IOException {
        return scrubs.last()
                .map(record -> Instant.ofEpochMilli(record.endedMs()))
                .orElseGet(scrubs::volumeMade);
    }

    private StoreFacts facts() throws IOException {
        HotChunks.Status ssd = volume.hot().status();
        return new StoreFacts(
                config.name(),
                config.locations().data(),
                config.locations().containers(),
                maintenance.condition(),
                ssd.state(),
                ssd.reason(),
                ssd.isDetachedOnRequest(),
                collections.lastFailure().map(Throwable::toString).orElse(null),
                null,
                new ScrubFacts(
                        scrubsMonthly(),
                        scrubs.running().isPresent(),
                        lastScrub(),
                        scrubs.last().map(ScrubRecord::totals).orElse(ScrubTotals.NONE),
                        scrubs.latest()
                                .map(JobStatus::failure)
                                .map(Throwable::toString)
                                .orElse(null)),
                maintenance.backups().condition(),
                keyHeader.faults(),
                Instant.now());
    }

    private boolean scrubsMonthly() {
        return !scrubInterval.isZero() && scrubInterval.compareTo(MONTHLY) <= 0;
    }

    /** Returns the limits of a collection that SDFS asks for. */
    CollectionLimits limits(double garbageShare) {
        return recompress.limits(garbageShare, false);
    }

    /** Returns whether collections remove anything. */
    boolean collects() {
        return collects;
    }

    private void checkCollects() throws IOException {
        if (!collects) {
            throw new IOException("nothing is collected, because " + PluginOptions.COLLECT.ofPlugin()
                    + " on <extended-config> is false");
        }
    }

    /** Shows a collection that SDFS has asked for. */
    CollectionWatcher.Watch collecting(CollectionLimits limits) {
        return collections.begunBy(Cause.SDFS, limits);
    }

    /**
     * Answers no command any more, takes the beans off, and stops all jobs. A scrub goes on after the next mount. The
     * volume is still open.
     */
    @Override
    public void close() throws IOException {
        Closing closing = new Closing();
        if (control != null) {
            closing.run(control::close);
        }
        closing.run(jmx::close);
        if (registration != null) {
            closing.run(registration::close);
        }
        closing.run(health::close);
        closing.run(resumer::close);
        closing.run(scrubTimer::close);
        // Each of these waits in bounded time for the end of a job.
        closing.run(scrubs::close);
        closing.run(checks::close);
        closing.run(copies::close);
        closing.run(collections::close);
        closing.run(heals::close);
        closing.run(volume::sync); // The last backup has what is committed.
        closing.run(backups::close);
        closing.run(() -> audit.note("unmounted", Actor.NOBODY, Map.of()));
        closing.run(audit::close);
        closing.finish();
    }
}
