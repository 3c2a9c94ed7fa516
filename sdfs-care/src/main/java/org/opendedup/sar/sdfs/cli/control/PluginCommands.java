package org.opendedup.sar.sdfs.cli.control;

import java.util.Map;
import java.util.Set;

/** Which control commands a process of OpenDedup SDFS with the plugin answers. */
public final class PluginCommands {
    private static final Set<String> ANSWERED = Set.of(
            VolumeCommands.PING,
            VolumeCommands.STATUS,
            VolumeCommands.STATS,
            VolumeCommands.METRICS,
            VolumeCommands.RESUME,
            VolumeCommands.KEY,
            GcControl.COMMAND,
            ScrubControl.COMMAND,
            HealControl.COMMAND,
            CheckControl.COMMAND,
            BackupControl.COMMAND,
            ChunkControl.COMMAND,
            JmxControl.COMMAND,
            IndexControl.COMMAND,
            SarControl.COMMAND);

    /** Of a command with several actions: those that are answered, if these are not all. */
    private static final Map<String, Set<String>> ACTIONS = Map.of(
            IndexControl.COMMAND,
            Set.of(IndexControl.STATUS),
            SarControl.COMMAND,
            Set.of(SarControl.STATUS, SarControl.SET, SarControl.DEMOTE, SarControl.DETACH, SarControl.ATTACH));

    private PluginCommands() {}

    /** Returns whether a request is answered. */
    public static boolean has(String command, Map<String, ?> arguments) {
        Set<String> actions = ACTIONS.get(command);
        return ANSWERED.contains(command)
                && (actions == null || actions.contains(String.valueOf(arguments.get("action"))));
    }

    /** Says why all other requests are refused. */
    public static String refusal(String volume) {
        return volume + " is a volume of OpenDedup SDFS with the plugin: it has no files and no volume file of its own;"
                + " use SDFS's commands, and settings in SDFS's volume file (docs/PLUGIN.md)";
    }
}
