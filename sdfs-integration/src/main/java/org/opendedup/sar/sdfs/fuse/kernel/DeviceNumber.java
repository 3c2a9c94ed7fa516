package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The number ({@code st_dev}) of a mounted file system, and its two parts, as glibc splits it. */
final class DeviceNumber {
    private DeviceNumber() {}

    static long of(Path mountPoint) throws IOException {
        return (long) Files.getAttribute(mountPoint, "unix:dev");
    }

    static long major(long device) {
        return ((device >>> 32) & 0xfffff000L) | ((device >>> 8) & 0xfff);
    }

    static long minor(long device) {
        return ((device >>> 12) & 0xffffff00L) | (device & 0xff);
    }
}
