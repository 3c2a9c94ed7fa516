package org.opendedup.sar.volume;

import java.io.IOException;
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
                Device.of(locations.data()), Device.of(locations.metadata()), Device.of(locations.hashDb()), ballasts);
    }

    /** Of a volume whose stores are the caller's: only that of the containers is known. */
    static VolumeDevices of(Directory containers) throws IOException {
        Device data = Device.of(containers);
        return new VolumeDevices(data, data, data, Ballasts.none());
    }
}
