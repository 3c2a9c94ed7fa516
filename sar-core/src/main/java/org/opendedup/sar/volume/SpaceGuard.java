package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Directory;

/**
 * Refuses bytes that might not fit, before they are accepted: a write that is taken is kept. What it holds back on the disk
 * leaves room for metadata, so that deleting works on a full disk.
 */
final class SpaceGuard {
    /** Kept free on the disk, or a sixteenth of what the disk has if that is less: room for commits and deletes. */
    private static final long RESERVE_BYTES = 64L << 20;
    /** The disk is asked again after so long, or when what it had would be used up. */
    private static final long REFRESH_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Directory data;
    private final long reserveBytes;
    private final long logicalLimitBytes;
    private long availableBytes;
    private long refreshedNs;

    SpaceGuard(Directory data, VolumeConfig config) throws IOException {
        this.data = data;
        long usable = data.usableBytes();
        this.reserveBytes = Math.min(RESERVE_BYTES, usable / 16);
        this.logicalLimitBytes = config.capacityBytes() / 100 * config.maximumFullPercentage();
        this.availableBytes = usable - reserveBytes;
        this.refreshedNs = System.nanoTime();
    }

    /**
     * Makes sure of room for {@code bytes} more.
     *
     * @param logicalBytes bytes of all files now
     * @param underWayBytes accepted bytes that are not in a container file yet
     */
    void admit(long bytes, long logicalBytes, long underWayBytes) throws IOException {
        admitLogical(bytes, logicalBytes);
        admitOnDisk(bytes, underWayBytes);
    }

    /** Makes sure that the disk can take {@code bytes} more, which do not make any file longer. */
    synchronized void admitOnDisk(long bytes, long underWayBytes) throws IOException {
        long now = System.nanoTime();
        if (availableBytes < bytes || now - refreshedNs > REFRESH_NS) {
            availableBytes = data.usableBytes() - reserveBytes - underWayBytes;
            refreshedNs = now;
        }
        if (availableBytes < bytes) {
            throw new NoSpaceException("the disk under " + data + " is full: " + Math.max(0, availableBytes)
                    + " bytes are left beside " + reserveBytes + " kept for deleting");
        }
        availableBytes -= bytes;
    }

    /** Makes sure that all files together may be {@code bytes} longer; whatever that takes on the disk. */
    void admitLogical(long bytes, long logicalBytes) throws NoSpaceException {
        if (bytes > logicalLimitBytes - logicalBytes) {
            throw new NoSpaceException(
                    "the volume is full: " + logicalBytes + " of " + logicalLimitBytes + " bytes are used");
        }
    }

    /** Bytes a writer can still hope for. */
    long freeBytes(long logicalBytes) throws IOException {
        return Math.max(0, Math.min(logicalLimitBytes - logicalBytes, data.usableBytes() - reserveBytes));
    }
}
