package org.opendedup.sar.sdfs.cli.control;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where a process of OpenDedup SDFS with the plugin answers the commands, and records them. It follows from SDFS's
 * volume file alone, which both sides read.
 */
public final class PluginFiles {
    /**
     * The environment variable that names another folder for sockets, because Linux limits the length of their paths.
     */
    public static final String RUN_DIRECTORY = "SDFS_RUN_DIR";

    private PluginFiles() {}

    /**
     * Returns the control socket of a volume.
     *
     * @param volume its name in SDFS's volume file
     * @param metadata folder of its metadata
     * @param runFolder value of {@value #RUN_DIRECTORY}; null or empty if it is not set
     */
    public static Path socket(String volume, Path metadata, @Nullable String runFolder) {
        Path folder = runFolder == null || runFolder.isEmpty() ? run(metadata) : Path.of(runFolder);
        return folder.toAbsolutePath().normalize().resolve(volume + ".sock");
    }

    /** Returns the audit log of a volume; parameters as of {@link #socket}. */
    public static Path audit(String volume, Path metadata) {
        return run(metadata).resolve(volume + ".audit");
    }

    /** Returns the file that is locked while somebody works on the key header; parameters as of {@link #socket}. */
    public static Path keyLock(String volume, Path metadata) {
        return run(metadata).resolve(volume + ".keys-lock");
    }

    private static Path run(Path metadata) {
        return metadata.resolve("run");
    }
}
