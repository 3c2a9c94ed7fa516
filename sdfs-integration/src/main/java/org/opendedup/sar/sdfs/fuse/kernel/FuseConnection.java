package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * The kernel's side of a mount, which outlives the mount point: after a lazy unmount it stays until the last open file is closed,
 * while the place may be free, or taken by another file system.
 *
 * @param mountPoint where it was mounted
 * @param device the file system's number
 */
record FuseConnection(Path mountPoint, long device) {

    /** The one that is seen at a mount point, which must answer. */
    static FuseConnection at(Path mountPoint) throws IOException {
        return new FuseConnection(mountPoint, DeviceNumber.of(mountPoint));
    }

    /** Is this still what is mounted there? */
    boolean isInPlace() {
        try {
            return DeviceNumber.of(mountPoint) == device;
        } catch (NoSuchFileException e) {
            return false;
        } catch (IOException e) {
            // It is there and does not answer any more.
            return true;
        }
    }

    /**
     * Cuts the connection, by the switch that the control file system has for each mount's owner: programs that use files in it
     * get errors, and the service ends.
     *
     * @throws IOException if the control file system is not mounted on {@code /sys/fs/fuse/connections}
     */
    void abort() throws IOException {
        Files.writeString(Path.of("/sys/fs/fuse/connections", Long.toString(DeviceNumber.minor(device)), "abort"), "1");
    }
}
