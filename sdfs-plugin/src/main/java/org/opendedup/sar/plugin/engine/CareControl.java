package org.opendedup.sar.plugin.engine;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.plugin.Settings;
import org.opendedup.sar.sdfs.check.VolumeChecks;
import org.opendedup.sar.sdfs.cli.control.BackupControl;
import org.opendedup.sar.sdfs.cli.control.BackupTargets;
import org.opendedup.sar.sdfs.cli.control.CheckControl;
import org.opendedup.sar.sdfs.cli.control.ControlServer;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Handler;
import org.opendedup.sar.sdfs.cli.control.GcControl;
import org.opendedup.sar.sdfs.cli.control.HealControl;
import org.opendedup.sar.sdfs.cli.control.IndexControl;
import org.opendedup.sar.sdfs.cli.control.PluginCommands;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.cli.control.ScrubControl;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.report.DaemonState;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.StatusReport;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.heal.Heals;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.sdfs.health.StoreFacts;
import org.opendedup.sar.sdfs.jmx.Recent;
import org.opendedup.sar.sdfs.jmx.SarAdministration;
import org.opendedup.sar.sdfs.jmx.SarFigures;
import org.opendedup.sar.sdfs.jmx.StoreFigures;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.scrub.Scrubs;
import org.opendedup.sar.tier.SsdTier;
import org.opendedup.sar.volume.chunks.ChunkMaintenance;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers the commands of sdfscli in SDFS's process, as far as a volume without files has them. */
final class CareControl implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(CareControl.class);

    private final String volume;
    private final Cared cared;
    private final CheckControl checks;
    private @Nullable ControlServer server;

    /**
     * What the commands are about.
     *
     * @param bean name of the volume in JMX
     * @param index class of its index
     * @param sar null if the volume has no SSD
     */
    record Cared(
            String bean,
            IndexClass index,
            SsdTier tier,
            ChunkMaintenance maintenance,
            BackupTargets backups,
            HealthWatch<StoreFacts> health,
            Recent<StoreFigures> figures,
            GarbageCollections collections,
            Scrubs scrubs,
            StartTimes scrubTimes,
            Heals heals,
            VolumeChecks checks,
            @Nullable SarAdministration sar) {}

    private CareControl(String volume, Cared cared) {
        this.volume = volume;
        this.cared = cared;
        checks = new CheckControl(cared.checks);
    }

    /**
     * Begins to answer. The volume is open, so what is at the place of the socket is a leftover of a killed process.
     *
     * @param volume name of the volume in SDFS's volume file, by which commands name it
     * @return null if no command can reach the process, which is no reason not to mount
     */
    static @Nullable CareControl begin(String volume, Path socket, Cared cared) {
        CareControl control = new CareControl(volume, cared);
        try {
            PrivateFiles.createFolders(Objects.requireNonNull(socket.getParent()));
            control.server = ControlServer.start(socket, control.handlers(), command -> PluginCommands.refusal(volume));
            return control;
        } catch (IOException e) {
            log.warn("sdfscli cannot ask the volume {}, only JMX can: {}", volume, FailureText.of(e));
            return null;
        }
    }

    private Map<String, Handler> handlers() {
        var collections = new GcControl(cared.collections, StartTimes.NEVER);
        var scrubs = new ScrubControl(cared.scrubs, cared.scrubTimes);
        var heals = new HealControl(cared.heals);
        var backups = new BackupControl(cared.backups);
        Map<String, Handler> handlers = new HashMap<>();
        handlers.put(VolumeCommands.PING, (arguments, caller) -> state());
        handlers.put(
                VolumeCommands.STATUS,
                (arguments, caller) -> StatusReport.ofChunks(
                        volume,
                        state(),
                        cared.health,
                        cared.figures.get(),
                        cared.collections,
                        StartTimes.NEVER,
                        cared.scrubs,
                        cared.scrubTimes,
                        cared.tier.status()));
        handlers.put(VolumeCommands.STATS, (arguments, caller) -> stats());
        handlers.put(VolumeCommands.RESUME, (arguments, caller) -> resume());
        handlers.put(GcControl.COMMAND, collections::answer);
        handlers.put(ScrubControl.COMMAND, scrubs::answer);
        handlers.put(HealControl.COMMAND, heals::answer);
        handlers.put(CheckControl.COMMAND, checks::answer);
        handlers.put(BackupControl.COMMAND, (arguments, caller) -> backups.answer(arguments));
        handlers.put(IndexControl.COMMAND, (arguments, caller) -> {
            requireAnswered(IndexControl.COMMAND, arguments);
            return IndexControl.report(
                    cared.index, cared.maintenance.condition().index());
        });
        handlers.put(SarControl.COMMAND, (arguments, caller) -> {
            requireAnswered(SarControl.COMMAND, arguments);
            return sar().answer(arguments);
        });
        return handlers;
    }

    private void requireAnswered(String command, Map<String, Object> arguments) throws IOException {
        if (!PluginCommands.has(command, arguments)) {
            throw new IOException(PluginCommands.refusal(volume));
        }
    }

    private SarControl sar() throws IOException {
        if (cared.sar == null) {
            throw new IOException(
                    "the volume has no SSD; " + Settings.SSD + " on <extended-config> gives it one at the next mount");
        }
        return new SarControl(cared.sar, (path, from, visitor) -> {
            throw new IOException(PluginCommands.refusal(volume));
        });
    }

    private Map<String, Object> stats() {
        Map<String, Object> figures = Json.values(cared.figures.get());
        figures.put("name", volume);
        figures.put("sar", SarFigures.Summary.of(cared.tier.status()));
        return figures;
    }

    private Map<String, Object> resume() throws IOException {
        boolean resumed = cared.maintenance.resume();
        Map<String, Object> state = Json.values(state());
        state.put(VolumeCommands.RESUMED, resumed);
        return state;
    }

    private DaemonState state() {
        return new DaemonState("mounted", null, ProcessHandle.current().pid(), null, null, null, null, cared.bean);
    }

    /** Answers no command any more. */
    @Override
    public void close() throws IOException {
        if (server != null) {
            server.close();
        }
    }
}
