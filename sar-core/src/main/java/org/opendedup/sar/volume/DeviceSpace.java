package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Device;

/**
 * What one device can still take. Bytes are admitted before they are accepted, and some are held back, so that what was accepted
 * fits, and deleting, which writes too, works when nothing else does.
 */
final class DeviceSpace {
    /** Held back on a device, or a sixteenth of it if that is less. */
    private static final long RESERVE_BYTES = 64L << 20;
    /** The device is asked again after so long, or when what it had would be used up. */
    private static final long REFRESH_NS = TimeUnit.MILLISECONDS.toNanos(500);

    /** What will be written to a device without being admitted again. */
    @FunctionalInterface
    interface Owed {
        long bytes() throws IOException;
    }

    private final Device device;
    private final Owed owed;
    private final long reserveBytes;
    /** Guarded by this. */
    private long availableBytes;
    /** Guarded by this. */
    private long refreshedNs;

    DeviceSpace(Device device, Owed owed) throws IOException {
        this.device = device;
        this.owed = owed;
        reserveBytes = Math.min(RESERVE_BYTES, device.totalBytes() / 16);
        refreshedNs = System.nanoTime() - REFRESH_NS - 1;
    }

    /**
     * Makes sure of room for {@code bytes} more.
     *
     * @param underWayBytes admitted bytes that are not on the device yet
     */
    synchronized void admit(long bytes, long underWayBytes) throws IOException {
        long now = System.nanoTime();
        if (availableBytes < bytes || now - refreshedNs > REFRESH_NS) {
            availableBytes = unreservedBytes() - underWayBytes;
            refreshedNs = now;
        }
        if (availableBytes < bytes) {
            throw new NoSpaceException("the disk under " + device + " is full: " + Math.max(0, availableBytes)
                    + " bytes are left beside " + reserveBytes + " kept for deleting");
        }
        availableBytes -= bytes;
    }

    /** What can be admitted, as of now. */
    long freeBytes() throws IOException {
        return Math.max(0, unreservedBytes());
    }

    private long unreservedBytes() throws IOException {
        return device.usableBytes() - reserveBytes - owed.bytes();
    }
}
