package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.nio.file.Path;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.sdfs.cli.command.PathWalk;
import org.opendedup.sar.sdfs.config.RecompressLevel;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;

/**
 * The settings of a mounted volume that commands change. Writes the volume file; only the daemon may do so, because it
 * holds the volume's lock. Safe for use by many threads.
 *
 * @param definition the volume as it was mounted
 */
record KeptSettings(Path volumeFile, VolumeDefinition definition, Path mountPoint) {
    synchronized void keep(SarSettings settings) throws IOException {
        VolumeFile.write(volumeFile, VolumeFile.read(volumeFile).withSar(settings));
    }

    synchronized void keep(RecompressLevel level) throws IOException {
        VolumeFile.write(volumeFile, VolumeFile.read(volumeFile).withRecompress(level));
    }

    synchronized void keep(IndexClass kind) throws IOException {
        VolumeFile.write(volumeFile, VolumeFile.read(volumeFile).withIndex(kind));
    }

    /**
     * Refuses a folder for the SSD in the volume itself: the SSD's store there would write to itself. Refuses any other
     * folder than before if raw files lie there: they would be looked for in the new one.
     */
    void checkLocation(Path location) throws IOException {
        // Refuses one in another location of the volume.
        var unused = definition.withSar(definition.sar().withLocation(location));
        if (PathWalk.to(location).meets(mountPoint)) {
            throw new IOException(location + " lies in the volume itself; choose a folder on the SSD");
        }
        if (definition.raw().isEnabled() && !location.equals(definition.sar().ssdLocation())) {
            String name = definition.config().name();
            throw new IOException("the raw files of the volume lie in "
                    + definition.sar().ssdLocation() + ", so another folder cannot be used while it is mounted."
                    + " Migrate them (sdfscli " + name + " tier migrate .), unmount the volume, run this command again,"
                    + " mount the volume, and run: sdfscli " + name + " tier attach --new");
        }
    }
}
