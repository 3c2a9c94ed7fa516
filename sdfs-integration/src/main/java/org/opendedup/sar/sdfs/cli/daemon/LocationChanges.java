package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.control.ControlArguments;
import org.opendedup.sar.sdfs.cli.control.PathWalk;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The daemon's side of {@code sdfscli VOLUME add-location}. After a crash between two of its steps, the command can be
 * repeated, or the next mount completes it (docs/adr/0109).
 */
final class LocationChanges {
    private static final Logger LOG = LoggerFactory.getLogger(LocationChanges.class);

    private final KeptSettings settings;
    private final Step prepare;
    private final Step use;

    /** Does something with a folder. */
    @FunctionalInterface
    interface Step {
        void run(Path folder) throws IOException;
    }

    /**
     * @param prepare makes a folder a data location, before the volume file names it
     * @param use uses it from then on
     */
    LocationChanges(KeptSettings settings, Step prepare, Step use) {
        this.settings = settings;
        this.prepare = prepare;
        this.use = use;
    }

    synchronized Map<String, Object> add(Map<String, Object> request) throws IOException {
        var arguments = new ControlArguments(request);
        Path folder = Path.of(arguments.text(VolumeCommands.FOLDER));
        arguments.end();
        if (settings.readOnly()) {
            throw new IOException("the volume is mounted for reading only");
        }
        if (PathWalk.to(folder).meets(settings.mountPoint())) {
            throw new IOException(folder + " lies in the volume itself; choose a folder on a disk");
        }
        VolumeDefinition before = settings.present();
        if (before.furtherLocations().contains(folder)) {
            // Repeated, after an interruption; or its containers are leaving it, and do not any more.
            use.run(folder);
            return Map.of(VolumeCommands.FOLDER, folder.toString());
        }
        try {
            // Before anything is made there.
            var unused = before.withFurtherLocation(folder);
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
        prepare.run(folder);
        settings.addLocation(folder);
        use.run(folder);
        LOG.info("volume {}: {} is a data location from now on", before.config().name(), folder);
        return Map.of(VolumeCommands.FOLDER, folder.toString());
    }
}
