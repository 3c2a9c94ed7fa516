package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Numbers of devices, and their two parts: as glibc splits {@code st_dev}, and as the kernel packs a node's into 32 bits. */
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

    /** Of a device node ({@code new_encode_dev}): 12 bits above the lowest 8. */
    static int nodeMajor(int device) {
        return (device >>> 8) & 0xfff;
    }

    /** Of a device node: the lowest 8 bits, and 12 more on top. */
    static int nodeMinor(int device) {
        return (device & 0xff) | ((device >>> 12) & 0xfff00);
    }
}
