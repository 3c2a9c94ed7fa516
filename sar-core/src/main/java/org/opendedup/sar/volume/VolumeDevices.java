package org.opendedup.sar.volume;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.Directory;

/**
 * What a volume's parts lie on; several of them may be on one device.
 *
 * @param ballasts what is given back when a device is full
 */
record VolumeDevices(Device data, Device metadata, Device index, Ballasts ballasts) {
    static VolumeDevices of(VolumeConfig.Locations locations, Ballasts ballasts) throws IOException {
        return new VolumeDevices(
                Device.of(locations.data()), Device.of(locations.metadata()), ofIndex(locations.hashDb()), ballasts);
    }

    /** Of the index's folder, or of where it would be made: a volume goes on without it. */
    static Device ofIndex(Path folder) throws IOException {
        Path existing = folder.toAbsolutePath();
        while (existing.getParent() != null && !Files.exists(existing)) {
            existing = existing.getParent();
        }
        return Device.of(existing);
    }

    /** Of a volume whose stores are the caller's: only that of the containers is known. */
    static VolumeDevices of(Directory containers) throws IOException {
        Device data = Device.of(containers);
        return new VolumeDevices(data, data, data, Ballasts.none());
    }
}
