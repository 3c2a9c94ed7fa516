package org.opendedup.sar.volume.store;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Device;

/**
 * The free space of one device. Admits bytes before they are accepted, and reserves some space. So accepted bytes fit,
 * and deleting, which also writes, works even if the device is full otherwise.
 */
final class DeviceSpace {
    /** Bytes reserved on a device; a sixteenth of the device if that is less. */
    private static final long RESERVE_BYTES = 64L << 20;
    /** A device is low below this number of bytes, ... */
    private static final long LOW_BYTES = 10L << 30;
    /** ... if that is also less than this part of it. */
    private static final int LOW_PART = 10;
    /**
     * Time in nanoseconds after which the free space of the device is read again. It is also read again when the known
     * free space would be used up.
     */
    private static final long REFRESH_NS = TimeUnit.MILLISECONDS.toNanos(500);

    /** The bytes that will be written to a device without being admitted again. */
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
        reserveBytes = reserveBytes(device);
        refreshedNs = System.nanoTime() - REFRESH_NS - 1;
    }

    /** Returns the bytes that are reserved on a device. */
    static long reserveBytes(Device device) throws IOException {
        return Math.min(RESERVE_BYTES, device.totalBytes() / 16);
    }

    /**
     * Admits {@code bytes} more bytes; ENOSPC if there is no room for them.
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
                    + " bytes are available; " + reserveBytes + " more are reserved for deletes");
        }
        availableBytes -= bytes;
    }

    /** Makes the next admission read the free space again: the device had less than was known. */
    synchronized void forgetFree() {
        availableBytes = 0;
    }

    /** Returns the free bytes that nothing is admitted for, so that deletes and commits find them. */
    long reservedBytes() throws IOException {
        return Math.max(0, Math.min(device.usableBytes(), reserveBytes));
    }

    /** Returns the number of bytes that can be admitted once {@code bytes} more are free. */
    long freeBytesWith(long bytes) throws IOException {
        return Math.max(0, unreservedBytes() + bytes);
    }

    /** Returns whether little is left, and {@code bytes} more are at least an eighth of what should be. */
    boolean isLowWithout(long bytes) throws IOException {
        long low = Math.min(LOW_BYTES, device.totalBytes() / LOW_PART);
        return unreservedBytes() < low && bytes >= low / 8;
    }

    private long unreservedBytes() throws IOException {
        return device.usableBytes() - reserveBytes - owed.bytes();
    }
}
