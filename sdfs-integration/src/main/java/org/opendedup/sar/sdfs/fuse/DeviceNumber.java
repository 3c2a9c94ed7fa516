package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Splits device numbers into major and minor: {@code st_dev} as glibc does, and a device node's 32-bit number as the
 * kernel does.
 */
public final class DeviceNumber {
    private DeviceNumber() {}

    public static long of(Path mountPoint) throws IOException {
        return (long) Files.getAttribute(mountPoint, "unix:dev");
    }

    public static long major(long device) {
        return ((device >>> 32) & 0xfffff000L) | ((device >>> 8) & 0xfff);
    }

    public static long minor(long device) {
        return ((device >>> 12) & 0xffffff00L) | (device & 0xff);
    }

    /** Returns the major number of a device node ({@code new_encode_dev}): the 12 bits above the lowest 8. */
    public static int nodeMajor(int device) {
        return (device >>> 8) & 0xfff;
    }

    /** Returns the minor number of a device node: the lowest 8 bits and the highest 12 bits. */
    public static int nodeMinor(int device) {
        return (device & 0xff) | ((device >>> 12) & 0xfff00);
    }
}
