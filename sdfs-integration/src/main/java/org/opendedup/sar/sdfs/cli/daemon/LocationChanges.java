package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.control.ControlArguments;
import org.opendedup.sar.sdfs.cli.control.PathWalk;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.volume.Volume;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The daemon's side of {@code sdfscli VOLUME add-location}. After a crash between two of its steps, the command can be
 * repeated, or the next mount completes it (docs/adr/0109).
 */
final class LocationChanges {
    private static final Logger LOG = LoggerFactory.getLogger(LocationChanges.class);

    private final KeptSettings settings;
    private final Use use;

    /** Uses a folder that is prepared and kept in the volume file. */
    @FunctionalInterface
    interface Use {
        void add(Path folder) throws IOException;
    }

    LocationChanges(KeptSettings settings, Use use) {
        this.settings = settings;
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
            use.add(folder);
            return Map.of(VolumeCommands.FOLDER, folder.toString());
        }
        VolumeDefinition after;
        try {
            after = before.withFurtherLocation(folder);
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
        Volume.prepareDataLocation(after.config().locations().data(), folder);
        settings.keep(VolumeOptions.FURTHER_LOCATIONS, after.furtherLocations());
        use.add(folder);
        LOG.info("volume {}: {} is a data location from now on", after.config().name(), folder);
        return Map.of(VolumeCommands.FOLDER, folder.toString());
    }
}
