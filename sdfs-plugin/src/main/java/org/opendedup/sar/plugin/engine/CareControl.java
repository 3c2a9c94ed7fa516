package org.opendedup.sar.plugin.engine;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.plugin.Settings;
import org.opendedup.sar.sdfs.check.VolumeChecks;
import org.opendedup.sar.sdfs.cli.command.FailureText;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.control.BackupControl;
import org.opendedup.sar.sdfs.cli.control.BackupTargets;
import org.opendedup.sar.sdfs.cli.control.CheckControl;
import org.opendedup.sar.sdfs.cli.control.ControlServer;
import org.opendedup.sar.sdfs.cli.control.GcControl;
import org.opendedup.sar.sdfs.cli.control.HealControl;
import org.opendedup.sar.sdfs.cli.control.IndexControl;
import org.opendedup.sar.sdfs.cli.control.PluginCommands;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.cli.control.ScrubControl;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
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
import org.opendedup.sar.volume.ChunkMaintenance;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers the commands of sdfscli in SDFS's process, as far as a volume without files has them. */
final class CareControl implements ControlServer.Handler, Closeable {
    private static final Logger log = LoggerFactory.getLogger(CareControl.class);

    private final String volume;
    private final Cared cared;
    private final GcControl collections;
    private final ScrubControl scrubs;
    private final HealControl heals;
    private final CheckControl checks;
    private final BackupControl backups;
    private final @Nullable SarControl sar;
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
        collections = new GcControl(cared.collections, StartTimes.NEVER);
        scrubs = new ScrubControl(cared.scrubs, cared.scrubTimes);
        heals = new HealControl(cared.heals);
        checks = new CheckControl(cared.checks);
        backups = new BackupControl(cared.backups);
        sar = cared.sar == null
                ? null
                : new SarControl(cared.sar, (path, from, visitor) -> {
                    throw new IOException(PluginCommands.refusal(volume));
                });
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
            control.server = ControlServer.start(socket, control);
            return control;
        } catch (IOException e) {
            log.warn("sdfscli cannot ask the volume {}, only JMX can: {}", volume, FailureText.of(e));
            return null;
        }
    }

    @Override
    public Map<String, Object> answer(String command, Map<String, Object> arguments, ControlServer.Caller caller)
            throws IOException {
        if (!PluginCommands.has(command, arguments)) {
            throw new IOException(PluginCommands.refusal(volume));
        }
        return switch (command) {
            case VolumeCommands.PING -> state();
            case VolumeCommands.STATUS ->
                StatusReport.ofChunks(
                        volume,
                        state(),
                        cared.health,
                        cared.figures.get(),
                        cared.collections,
                        StartTimes.NEVER,
                        cared.scrubs,
                        cared.scrubTimes,
                        cared.tier.status());
            case VolumeCommands.STATS -> {
                Map<String, Object> figures = Json.values(cared.figures.get());
                figures.put("name", volume);
                figures.put("sar", SarFigures.Summary.of(cared.tier.status()));
                yield figures;
            }
            case VolumeCommands.RESUME -> {
                boolean resumed = cared.maintenance.resume();
                Map<String, Object> state = state();
                state.put(VolumeCommands.RESUMED, resumed);
                yield state;
            }
            case GcControl.COMMAND -> collections.answer(arguments, caller);
            case ScrubControl.COMMAND -> scrubs.answer(arguments, caller);
            case HealControl.COMMAND -> heals.answer(arguments, caller);
            case CheckControl.COMMAND -> checks.answer(arguments, caller);
            case BackupControl.COMMAND -> backups.answer(arguments);
            case IndexControl.COMMAND ->
                IndexControl.report(cared.index, cared.maintenance.condition().index());
            case SarControl.COMMAND -> sar().answer(arguments);
            default -> throw new IllegalStateException("the command '" + command + "' has no answer");
        };
    }

    private SarControl sar() throws IOException {
        if (sar == null) {
            throw new IOException(
                    "the volume has no SSD; " + Settings.SSD + " on <extended-config> gives it one at the next mount");
        }
        return sar;
    }

    private Map<String, Object> state() {
        var state = new LinkedHashMap<String, Object>();
        state.put("state", "mounted");
        state.put("pid", ProcessHandle.current().pid());
        state.put("jmxName", cared.bean);
        return state;
    }

    /** Answers no command any more. */
    @Override
    public void close() throws IOException {
        if (server != null) {
            server.close();
        }
    }
}
