package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.metadata.MetadataStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The space on the devices of a volume. What a change writes is admitted on each device that takes a part of it, and the scarcest
 * one decides. When something could not be written all the same, as others fill devices too, there is a <em>shortage</em>: nothing
 * is admitted until a commit has succeeded.
 *
 * <p>The device of the index alone refuses nothing: what the index cannot take costs deduplication. Where it is that of another
 * part too, its share is counted in.
 */
final class DeviceSpaces {
    private static final Logger log = LoggerFactory.getLogger(DeviceSpaces.class);
    /** A recipe is some 400 bytes for each 256 KiB of a file; the database writes them to its log and to a table. */
    private static final long BYTES_PER_METADATA_BYTE = 256;
    /** The index has 85 bytes for a chunk, of 4 KiB or more, and writes them twice before the older ones go. */
    private static final long BYTES_PER_INDEX_BYTE = 24;
    /** What a change of names or attributes takes beside its own bytes: records of some hundred bytes, in the log and in a table. */
    private static final long CHANGE_BYTES = 1024;

    private static final long LOG_INTERVAL_NS = TimeUnit.MINUTES.toNanos(1);

    private final VolumeDevices devices;
    private final DeviceSpace data;
    /** The same as {@link #data} if they share a device. */
    private final DeviceSpace metadata;

    private volatile @Nullable NoSpaceException shortage;
    /** When it was last told of a shortage. Guarded by this. */
    private long toldNs = System.nanoTime() - LOG_INTERVAL_NS;
    /** Guarded by this. */
    private boolean told;

    DeviceSpaces(VolumeDevices devices, MetadataStore store) throws IOException {
        this.devices = devices;
        Device metadataDevice = devices.metadata();
        boolean shared = devices.data().equals(metadataDevice);
        data = new DeviceSpace(
                devices.data(), () -> missingBytes(devices.data()) + (shared ? store.unwrittenBytes() : 0));
        metadata = shared
                ? data
                : new DeviceSpace(metadataDevice, () -> missingBytes(metadataDevice) + store.unwrittenBytes());
    }

    private long missingBytes(Device device) {
        return devices.ballasts().missingBytes(device);
    }

    /**
     * Makes sure that {@code bytes} more can be stored, with what is written about them.
     *
     * @param underWayBytes accepted bytes that are not in a container file yet
     */
    void admitData(long bytes, long underWayBytes) throws IOException {
        throwIfShort();
        long recipes = bytes / BYTES_PER_METADATA_BYTE;
        long dataBytes = bytes + indexBytes(devices.data(), bytes);
        if (data == metadata) {
            data.admit(dataBytes + recipes, underWayBytes);
        } else {
            metadata.admit(recipes + indexBytes(devices.metadata(), bytes), 0);
            data.admit(dataBytes, underWayBytes);
        }
    }

    /** Makes sure that the metadata can have {@code bytes} more in its records. */
    void admitMetadata(long bytes) throws IOException {
        throwIfShort();
        metadata.admit(CHANGE_BYTES + 2 * bytes, 0);
    }

    private long indexBytes(Device device, long bytes) {
        return device.equals(devices.index()) ? bytes / BYTES_PER_INDEX_BYTE : 0;
    }

    /** What can still be stored, whichever device is the scarcest. */
    long freeBytes() throws IOException {
        if (shortage != null) {
            return 0;
        }
        long ofMetadata = metadata.freeBytes();
        return ofMetadata > Long.MAX_VALUE / BYTES_PER_METADATA_BYTE
                ? data.freeBytes()
                : Math.min(data.freeBytes(), ofMetadata * BYTES_PER_METADATA_BYTE);
    }

    boolean isShort() {
        return shortage != null;
    }

    /** ENOSPC while there is a shortage. */
    void throwIfShort() throws NoSpaceException {
        NoSpaceException cause = shortage;
        if (cause != null) {
            NoSpaceException again = new NoSpaceException(String.valueOf(cause.getMessage()));
            again.initCause(cause);
            throw again;
        }
    }

    /** Something that was accepted could not be written for want of space. */
    synchronized void beginShortage(NoSpaceException cause) {
        boolean first = shortage == null;
        shortage = cause;
        if (first && System.nanoTime() - toldNs >= LOG_INTERVAL_NS) {
            toldNs = System.nanoTime();
            told = true;
            log.warn(
                    "writes are refused until there is space; reading goes on, and all that is durable stays: {}",
                    cause.getMessage());
        }
    }

    /** A commit has succeeded. */
    synchronized void endShortage() {
        if (shortage != null) {
            shortage = null;
            if (told) {
                told = false;
                log.info("there is space again, all that was accepted is written");
            }
        }
    }

    /** Gives the ballasts back, for a commit; whether that freed anything. */
    boolean freeBallasts() {
        return devices.ballasts().free("make what was changed durable");
    }

    /** Whether the index may be brought up to date: not in the last space of a device that it shares with what must be written. */
    boolean hasRoomForIndex() throws IOException {
        boolean shared =
                devices.index().equals(devices.data()) || devices.index().equals(devices.metadata());
        return !shared || freeBytes() > 0;
    }

    /** Looks after the ballasts that were left by the last mount. */
    void checkBallasts() {
        devices.ballasts().check();
        restoreBallasts();
    }

    /** Makes ballasts that are missing, where there is room. */
    void restoreBallasts() {
        if (!isShort()) {
            devices.ballasts().restore();
        }
    }
}
