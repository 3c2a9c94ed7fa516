package org.opendedup.sar.sdfs.cli.control;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where a process of OpenDedup SDFS with the plugin answers the commands. It follows from SDFS's volume file alone,
 * which both sides read.
 */
public final class PluginSocket {
    /**
     * The environment variable that names another folder for sockets, because Linux limits the length of their paths.
     */
    public static final String RUN_DIRECTORY = "SDFS_RUN_DIR";

    private PluginSocket() {}

    /**
     * Returns the control socket of a volume.
     *
     * @param volume its name in SDFS's volume file
     * @param metadata folder of its metadata
     * @param runFolder value of {@value #RUN_DIRECTORY}; null or empty if it is not set
     */
    public static Path of(String volume, Path metadata, @Nullable String runFolder) {
        Path folder = runFolder == null || runFolder.isEmpty() ? metadata.resolve("run") : Path.of(runFolder);
        return folder.toAbsolutePath().normalize().resolve(volume + ".sock");
    }
}
