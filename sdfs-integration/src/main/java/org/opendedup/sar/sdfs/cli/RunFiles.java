package org.opendedup.sar.sdfs.cli;

import java.nio.file.Path;
import org.opendedup.sar.sdfs.config.VolumeDefinition;

/**
 * Files of a running volume. All lie under its base path, so that whoever may use the volume finds them, whatever session
 * started it, and nothing outside needs to be writable. Only the socket may lie elsewhere, since Linux limits the length of
 * its path.
 *
 * @param definition the volume
 * @param socketFolder folder of the control socket
 */
record RunFiles(VolumeDefinition definition, Path socketFolder) {

    /** Folder of lock and, by default, socket; open to the volume's owner only. */
    Path runFolder() {
        return runFolder(definition);
    }

    static Path runFolder(VolumeDefinition definition) {
        return definition.basePath().resolve("run");
    }

    /** Locked while a daemon serves the volume. Its content says nothing. */
    Path lock() {
        return runFolder().resolve(name() + ".lock");
    }

    /** The control socket. */
    Path socket() {
        return socketFolder.resolve(name() + ".sock");
    }

    Path logFolder() {
        return logFolder(definition);
    }

    static Path logFolder(VolumeDefinition definition) {
        return definition.basePath().resolve("log");
    }

    /** What the daemon logs. */
    Path log() {
        return logFolder().resolve(name() + ".log");
    }

    /** What the daemon's JVM itself says, of the last start. */
    Path console() {
        return logFolder().resolve(name() + ".console");
    }

    private String name() {
        return definition.config().name();
    }
}
