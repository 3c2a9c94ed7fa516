package org.opendedup.sar.sdfs.cli;

import java.nio.file.Path;
import org.opendedup.sar.sdfs.config.VolumeDefinition;

/**
 * Files of a running volume. All lie under its base path, so that whoever may use the volume finds them, whatever user or
 * session started it, and nothing outside needs to be writable.
 */
record RunFiles(VolumeDefinition definition) {

    /** Folder of lock, state and socket; open to the volume's owner only. */
    Path runFolder() {
        return definition.basePath().resolve("run");
    }

    /** Locked while a daemon serves the volume. Its content says nothing. */
    Path lock() {
        return runFolder().resolve(name() + ".lock");
    }

    /** Who serves the volume, as JSON: pid, mount point. */
    Path state() {
        return runFolder().resolve(name() + ".json");
    }

    /** The control socket. */
    Path socket() {
        return runFolder().resolve(name() + ".sock");
    }

    Path logFolder() {
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
