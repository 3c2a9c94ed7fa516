package org.opendedup.sar.sdfs.cli.control;

import java.util.Set;

/** The control commands without arguments that volumes with and without files answer. */
public final class VolumeCommands {
    /** Returns where the volume is mounted, and by which process. */
    public static final String PING = "ping";

    /** Returns the volume's settings, and its state. */
    public static final String INFO = "info";

    /** Records in the audit log what a command has done to the key header. */
    public static final String KEY = "key";

    /** Unmounts, waits until the volume is closed, and returns how it was closed. */
    public static final String UNMOUNT = "unmount";

    /** Returns whether the volume is well. */
    public static final String STATUS = "status";

    /** Returns the volume's figures. */
    public static final String STATS = "stats";

    /** Returns the volume's figures as text for Prometheus, under {@link #TEXT}. */
    public static final String METRICS = "metrics";

    public static final String TEXT = "text";

    /** The commands that only tell how a volume is: members of the group for that may give them. */
    public static final Set<String> OF_STATUS = Set.of(PING, INFO, STATUS, STATS, METRICS);

    /** Changes options of the volume: {@link #CHANGES} has the values by their names. */
    public static final String SET = "set";

    public static final String CHANGES = "changes";

    /** Uses {@link #FOLDER} as a further data location of the volume. */
    public static final String ADD_LOCATION = "add-location";

    public static final String FOLDER = "folder";

    /** Makes the volume accept changes again; {@link #RESUMED} says whether they had been stopped. */
    public static final String RESUME = "resume";

    public static final String RESUMED = "resumed";

    private VolumeCommands() {}
}
