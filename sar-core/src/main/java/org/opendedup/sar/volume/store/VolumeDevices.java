package org.opendedup.sar.volume.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDevice;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * The devices that hold a volume's parts; several parts may be on one device.
 *
 * @param ballasts ballasts that are deleted when a device is full
 */
public record VolumeDevices(Device data, Device metadata, Device index, Ballasts ballasts) {
    static VolumeDevices of(VolumeConfig.Locations locations, Ballasts ballasts) throws IOException {
        return new VolumeDevices(
                FileDevice.of(locations.data()),
                FileDevice.of(locations.metadata()),
                ofIndex(locations.hashDb()),
                ballasts);
    }

    /**
     * Returns the device of the index's folder, or of the place where the folder would be created: a volume also works
     * without it.
     */
    static Device ofIndex(Path folder) throws IOException {
        Path existing = folder.toAbsolutePath();
        while (existing.getParent() != null && !Files.exists(existing)) {
            existing = existing.getParent();
        }
        return FileDevice.of(existing);
    }

    /** Returns the devices of a volume whose stores the caller provides: only the device of the containers is known. */
    public static VolumeDevices of(Directory containers) throws IOException {
        Device data = Device.of(containers);
        return new VolumeDevices(data, data, data, Ballasts.none());
    }
}
