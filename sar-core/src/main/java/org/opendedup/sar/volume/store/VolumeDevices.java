package org.opendedup.sar.volume.store;

import java.io.IOException;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDevice;
import org.opendedup.sar.volume.config.VolumeConfig;

/**
 * The devices that hold a volume's parts; several parts may be on one device.
 *
 * @param data device of the containers, or the sum of those of several locations
 * @param ballasts ballasts that are deleted when a device is full
 */
public record VolumeDevices(Device data, Device metadata, Device index, Ballasts ballasts) {
    static VolumeDevices of(VolumeConfig.Locations locations, DataLocations data, Ballasts ballasts)
            throws IOException {
        return new VolumeDevices(
                data.device(),
                FileDevice.of(locations.metadata()),
                // A volume also works without its index, and without the folder of that.
                FileDevice.ofNearest(locations.hashDb()),
                ballasts);
    }

    /** Returns the devices of a volume whose stores the caller provides: only the device of the containers is known. */
    public static VolumeDevices of(Directory containers) throws IOException {
        Device data = containers instanceof DataLocations locations ? locations.device() : Device.of(containers);
        return new VolumeDevices(data, data, data, Ballasts.none());
    }
}
