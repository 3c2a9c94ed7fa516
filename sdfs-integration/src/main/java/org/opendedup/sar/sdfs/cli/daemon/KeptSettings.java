package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.opendedup.sar.sdfs.cli.control.PathWalk;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.StoredVolumeFile;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeFileCopy;
import org.opendedup.sar.sdfs.config.VolumeOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The settings of a mounted volume that commands change. Writes the volume file; only the daemon may do so, because it
 * holds the volume's lock. Safe for use by many threads.
 *
 * @param definition the volume as it was mounted
 * @param readOnly whether nothing in the volume's locations may change: the next mount then makes the copies
 */
record KeptSettings(Path volumeFile, VolumeDefinition definition, Path mountPoint, boolean readOnly) {
    private static final Logger LOG = LoggerFactory.getLogger(KeptSettings.class);

    synchronized void keep(SarSettings settings) throws IOException {
        change(present -> present.withSar(settings));
    }

    synchronized <T> void keep(VolumeOption<T> option, T value) throws IOException {
        change(present -> present.with(option, value));
    }

    /** Returns the volume as its file has it now. */
    synchronized VolumeDefinition present() throws IOException {
        return VolumeFile.read(volumeFile);
    }

    /**
     * Returns the volume as its file has it now; as it was mounted, if the file cannot be read. Waits for no change,
     * which may wait for an object store.
     */
    VolumeDefinition known() {
        try {
            return VolumeFile.read(volumeFile);
        } catch (IOException e) {
            LOG.warn("what {} said at the mount is used, because it cannot be read: {}", volumeFile, e.toString());
            return definition;
        }
    }

    synchronized void keep(Map<String, ?> changes) throws IOException {
        change(present -> present.withChanges(changes));
    }

    /** Adds a data location to those that the volume file has now: another one may have been left meanwhile. */
    synchronized void addLocation(Path location) throws IOException {
        change(present -> present.withFurtherLocation(location));
    }

    /** Forgets a data location that has no container any more. */
    synchronized void forget(Path location) throws IOException {
        change(present -> present.withoutFurtherLocation(location));
    }

    private void change(UnaryOperator<VolumeDefinition> change) throws IOException {
        VolumeFile.write(volumeFile, StoredVolumeFile.changed(present(), change));
        copy();
    }

    /** Copies the volume file to the volume's locations. A failure is logged: the volume works without the copies. */
    synchronized void copy() {
        if (readOnly) {
            return;
        }
        try {
            VolumeFileCopy.write(VolumeFile.read(volumeFile));
        } catch (IOException e) {
            LOG.warn("the copies of {} in the volume's locations could not be written: {}", volumeFile, e.toString());
        }
    }

    /**
     * Refuses a folder for the SSD in the volume itself: the SSD's store there would write to itself. Refuses any other
     * folder than before if raw files lie there: they would be looked for in the new one.
     */
    void checkLocation(Path location) throws IOException {
        VolumeDefinition now = known();
        // Refuses one in another location of the volume.
        var unused = now.withSar(now.sar().withLocation(location));
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
