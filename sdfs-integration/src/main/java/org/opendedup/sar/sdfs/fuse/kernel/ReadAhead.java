package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sets how far the kernel reads ahead of a sequential reader, whatever binding serves it. */
public final class ReadAhead {
    private static final Logger LOG = LoggerFactory.getLogger(ReadAhead.class);

    private ReadAhead() {}

    /** Sets the mount's {@code read_ahead_kb}. Only root may; a mount without it works, but reads in 128 KiB steps. */
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
