package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sets the read-ahead of the kernel for a mount. */
public final class ReadAhead {
    private static final Logger LOG = LoggerFactory.getLogger(ReadAhead.class);

    private ReadAhead() {}

    /**
     * Sets {@code read_ahead_kb} of the mount, in KiB. Only root may. Without it, the mount works but the kernel reads
     * in steps of 128 KiB.
     */
    public static void raise(Path mountPoint, int kib) {
        if (kib == 0) {
            return;
        }
        try {
            long device = DeviceNumber.of(mountPoint);
            String name = DeviceNumber.major(device) + ":" + DeviceNumber.minor(device);
            Files.writeString(Path.of("/sys/class/bdi", name, "read_ahead_kb"), Integer.toString(kib));
        } catch (IOException e) {
            LOG.info("read-ahead stays at the kernel's own: {}", e.toString());
        }
    }
}
