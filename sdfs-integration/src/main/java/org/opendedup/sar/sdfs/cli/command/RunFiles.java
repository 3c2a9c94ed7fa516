package org.opendedup.sar.sdfs.cli.command;

import java.nio.file.Path;
import org.opendedup.sar.sdfs.config.VolumeDefinition;

/**
 * Files of a running volume. All are in folders below its base path: every user with access to the volume finds them,
 * in any session, and nothing outside needs to be writable. Only the socket may be elsewhere, because Linux limits the
 * length of its path.
 *
 * @param definition the volume
 * @param socketFolder folder of the control socket
 */
public record RunFiles(VolumeDefinition definition, Path socketFolder) {
    /** Whoever may read the status may enter it; the volume's own folders are closed to all others. */
    private static final Path STATUS_FOLDER = Path.of("/run/sdfs");

    /** Returns the folder of the lock and, by default, of the socket; only the volume's owner has access. */
    public Path runFolder() {
        return runFolder(definition);
    }

    public static Path runFolder(VolumeDefinition definition) {
        return definition.basePath().resolve("run");
    }

    /** Returns the file that is locked while a daemon serves the volume. The file's bytes have no meaning. */
    public Path lock() {
        return runFolder().resolve(name() + ".lock");
    }

    /** Returns the file that is locked while a command works on the key header. */
    public Path keyLock() {
        return runFolder().resolve(name() + ".keys-lock");
    }

    /** Returns the control socket. */
    public Path socket() {
        return socketFolder.resolve(name() + ".sock");
    }

    /**
     * Returns a file that exists while a daemon serves the volume, and remains if the daemon did not close it in order;
     * see {@code LastEnd}.
     */
    public Path lastEnd() {
        return runFolder().resolve(name() + ".session");
    }

    /** Returns a file with the latest collection of garbage. */
    public Path lastCollection() {
        return runFolder().resolve(name() + ".collection");
    }

    /** Returns a file with the bytes written to the SSD, a day and in total. */
    public Path ssdWear() {
        return runFolder().resolve(name() + ".ssd-wear");
    }

    /** Returns the socket over which members of a group may read the status of a volume that root mounted. */
    public static Path statusSocket(String volume) {
        return STATUS_FOLDER.resolve(volume + ".status");
    }

    public Path logFolder() {
        return logFolder(definition);
    }

    public static Path logFolder(VolumeDefinition definition) {
        return definition.basePath().resolve("log");
    }

    /** Returns the daemon's log. */
    public Path log() {
        return logFolder().resolve(name() + ".log");
    }

    /** Returns the log of who did what. */
    public Path audit() {
        return logFolder().resolve(name() + ".audit");
    }

    /** Returns the output of the daemon's JVM itself, since the last start. */
    public Path console() {
        return logFolder().resolve(name() + ".console");
    }

    private String name() {
        return definition.config().name();
    }
}
