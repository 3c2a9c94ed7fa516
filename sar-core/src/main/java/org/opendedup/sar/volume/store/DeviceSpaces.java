package org.opendedup.sar.volume.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.volume.config.VolumeIdentity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The space on the devices of a volume. A change is admitted on each device that stores a part of it; the device with
 * the least space decides. Writing may still fail, because other programs fill devices too. Then there is a
 * <em>shortage</em>: nothing is admitted until a commit has succeeded.
 *
 * <p>A device that holds only the index refuses nothing: what the index cannot store costs only deduplication. If the
 * index shares a device with another part, its share is included.
 */
public final class DeviceSpaces {
    private static final Logger log = LoggerFactory.getLogger(DeviceSpaces.class);
    /**
     * Bytes of a file for each byte of metadata: a recipe has approximately 400 bytes for each 256 KiB of a file, and
     * the database writes them to its log and to a table.
     */
    private static final long BYTES_PER_METADATA_BYTE = 256;
    /**
     * Bytes of a file for each byte of the index: the index has 85 bytes for a chunk, of 4 KiB or more, and writes them
     * twice before it deletes the older ones.
     */
    private static final long BYTES_PER_INDEX_BYTE = 24;
    /**
     * Bytes for a change of names or attributes in addition to its own bytes: records of some hundred bytes, in the log
     * and in a table.
     */
    private static final long CHANGE_BYTES = 1024;

    private static final long LOG_INTERVAL_NS = TimeUnit.MINUTES.toNanos(1);

    private final VolumeDevices devices;
    private final DeviceSpace data;
    /** Not used while the metadata share the only device of the containers. */
    private final DeviceSpace ofMetadata;

    private volatile @Nullable NoSpaceException shortage;
    /** Time in nanoseconds at which a shortage was last logged. Guarded by this. */
    private long loggedNs = System.nanoTime() - LOG_INTERVAL_NS;
    /** Guarded by this. */
    private boolean logged;

    public DeviceSpaces(VolumeDevices devices, MetadataStore store) throws IOException {
        this.devices = devices;
        data = new DeviceSpace(devices.data(), () -> {
            long missing = devices.data().parts().stream()
                    .mapToLong(this::missingBytes)
                    .sum();
            return missing + (isShared() ? store.unwrittenBytes() : 0);
        });
        ofMetadata =
                new DeviceSpace(devices.metadata(), () -> missingBytes(devices.metadata()) + store.unwrittenBytes());
    }

    /**
     * Returns whether containers and metadata have one device together. A location of containers on another one can be
     * added at any time.
     */
    private boolean isShared() {
        return devices.data().parts().equals(devices.metadata().parts());
    }

    /** Returns the space for metadata: that for the containers if they share it. */
    private DeviceSpace metadata() {
        return isShared() ? data : ofMetadata;
    }

    private boolean hasContainers(Device device) {
        return !Collections.disjoint(device.parts(), devices.data().parts());
    }

    /**
     * Checks that a copy of {@code bytes} bytes, which is of use but not needed, leaves room on a device: the reserve,
     * and as much again for what is being written.
     *
     * @throws NoSpaceException if it does not
     */
    public static void requireRoomForCopy(Device device, long bytes) throws IOException {
        long free = device.usableBytes();
        long kept = 2 * DeviceSpace.reserveBytes(device);
        if (free - bytes < kept) {
            throw new NoSpaceException(
                    "the disk under " + device + " has too little room: " + bytes + " bytes more are wanted, " + free
                            + " are free, and " + kept + " of these are kept for the volume");
        }
    }

    private long missingBytes(Device device) {
        return devices.ballasts().missingBytes(device);
    }

    /**
     * Admits {@code bytes} more bytes of data, with the metadata and index entries for them; ENOSPC if there is no
     * room.
     *
     * @param underWayBytes accepted bytes that are not in a container file yet
     */
    public void admitData(long bytes, long underWayBytes) throws IOException {
        throwIfShort();
        long recipes = bytes / BYTES_PER_METADATA_BYTE;
        boolean shared = isShared();
        long dataBytes = bytes + (hasContainers(devices.index()) ? bytes / BYTES_PER_INDEX_BYTE : 0);
        if (shared) {
            data.admit(dataBytes + recipes, underWayBytes);
        } else {
            ofMetadata.admit(recipes + indexBytes(devices.metadata(), bytes), 0);
            data.admit(dataBytes, underWayBytes);
        }
    }

    /** Admits {@code bytes} more bytes in records of the metadata; ENOSPC if there is no room. */
    public void admitMetadata(long bytes) throws IOException {
        throwIfShort();
        metadata().admit(CHANGE_BYTES + 2 * bytes, 0);
    }

    /**
     * As {@link #admitMetadata}, for records that are of use but not needed: returns false if there is no room. During
     * a shortage, too, only the room on the device of the metadata counts.
     */
    public boolean tryAdmitMetadata(long bytes) throws IOException {
        try {
            metadata().admit(CHANGE_BYTES + 2 * bytes, 0);
            return true;
        } catch (NoSpaceException e) {
            log.debug("{} bytes of records are not admitted: {}", bytes, e.getMessage());
            return false;
        }
    }

    private long indexBytes(Device device, long bytes) {
        return device.equals(devices.index()) ? bytes / BYTES_PER_INDEX_BYTE : 0;
    }

    /** Returns the bytes on all devices that are kept for deletes and commits: ballasts, and free space. */
    public long reservedBytes() throws IOException {
        return devices.ballasts().presentBytes() + data.reservedBytes() + (isShared() ? 0 : ofMetadata.reservedBytes());
    }

    /** Returns the number of bytes that can still be stored; the device with the least space decides. */
    public long freeBytes() throws IOException {
        return freeBytesWith(0);
    }

    /**
     * Returns the number of bytes that can be stored once {@code bytes} more are free on the device of the containers.
     * These end a shortage.
     */
    public long freeBytesWith(long bytes) throws IOException {
        if (shortage != null && bytes == 0) {
            return 0;
        }
        long ofData = data.freeBytesWith(bytes);
        long forMetadata = isShared() ? ofData : ofMetadata.freeBytesWith(0);
        return forMetadata > Long.MAX_VALUE / BYTES_PER_METADATA_BYTE
                ? ofData
                : Math.min(ofData, forMetadata * BYTES_PER_METADATA_BYTE);
    }

    /**
     * Returns whether the metadata have a device of their own, and it is full: then free space elsewhere helps nobody.
     */
    public boolean isMetadataFull() throws IOException {
        return !isShared() && ofMetadata.freeBytesWith(0) == 0;
    }

    /** Returns whether the device of the containers has little room left, and {@code bytes} more would help it. */
    public boolean isDataLowWithout(long bytes) throws IOException {
        return data.isLowWithout(bytes);
    }

    /**
     * Checks that {@code bytes} bytes can be stored, in the worst case that none of them are duplicates. ENOSPC if not.
     * Admits nothing.
     */
    public void check(long bytes) throws IOException {
        throwIfShort();
        long free = freeBytes();
        if (bytes > free) {
            throw new NoSpaceException("the disks under the volume are full: " + bytes + " bytes more are wanted, and "
                    + free + " can be stored");
        }
    }

    /**
     * Returns the space on each device that refuses changes when it is full, and on that of the index. Several data
     * locations are listed one by one, also if they are on one device.
     */
    public List<DeviceCondition> conditions() throws IOException {
        List<DeviceCondition> conditions = new ArrayList<>();
        Set<Device> told = new LinkedHashSet<>();
        List<Location> locations = DataLocations.on(devices.data());
        for (Location location : locations) {
            conditions.add(condition(location, told.add(location.device())));
        }
        Set<Device> rest = new LinkedHashSet<>();
        if (locations.isEmpty()) {
            rest.add(devices.data());
        }
        rest.add(devices.metadata());
        rest.add(devices.index());
        rest.removeAll(told);
        for (Device device : rest) {
            conditions.add(new DeviceCondition(
                    device.toString(),
                    parts(device, true),
                    device.usableBytes(),
                    device.totalBytes(),
                    missingBytes(device)));
        }
        return conditions;
    }

    private DeviceCondition condition(Location location, boolean isFirstOfDevice) throws IOException {
        Device device = location.device();
        List<String> parts = parts(device, isFirstOfDevice);
        String refusal = location.refusal();
        if (location.number() != VolumeIdentity.FIRST && !location.isPresent()) {
            return new DeviceCondition(location.toString(), parts, 0, 0, 0, DeviceCondition.MISSING);
        }
        return new DeviceCondition(
                location.place(),
                parts,
                device.usableBytes(),
                device.totalBytes(),
                missingBytes(device),
                location.isLeaving() ? DeviceCondition.LEAVING : refusal == null ? DeviceCondition.OK : refusal);
    }

    /** Returns what is on a device; nothing but the containers if the rest was told before. */
    private List<String> parts(Device device, boolean all) {
        List<String> parts = new ArrayList<>();
        addIf(hasContainers(device), DeviceCondition.CONTAINERS, parts);
        addIf(all && device.equals(devices.metadata()), "metadata", parts);
        addIf(all && device.equals(devices.index()), "index", parts);
        return parts;
    }

    private static void addIf(boolean condition, String part, List<String> parts) {
        if (condition) {
            parts.add(part);
        }
    }

    /** Returns why writes are refused for lack of space, as text; null if they are not. */
    public @Nullable String shortageText() {
        NoSpaceException cause = shortage;
        return cause == null ? null : String.valueOf(cause.getMessage());
    }

    public boolean isShort() {
        return shortage != null;
    }

    /** Throws ENOSPC during a shortage. */
    public void throwIfShort() throws NoSpaceException {
        NoSpaceException cause = shortage;
        if (cause != null) {
            NoSpaceException again = new NoSpaceException(String.valueOf(cause.getMessage()));
            again.initCause(cause);
            throw again;
        }
    }

    /** Begins a shortage: something that was accepted could not be written for lack of space. */
    public synchronized void beginShortage(NoSpaceException cause) {
        boolean first = shortage == null;
        shortage = cause;
        forgetFree();
        if (first && System.nanoTime() - loggedNs >= LOG_INTERVAL_NS) {
            loggedNs = System.nanoTime();
            logged = true;
            log.warn(
                    "writes are refused until there is space; reads continue, and everything durable is kept: {}",
                    cause.getMessage());
        }
    }

    /** Ends a shortage, after a commit has succeeded. */
    public synchronized void endShortage() {
        if (shortage != null) {
            shortage = null;
            if (logged) {
                logged = false;
                log.info("there is space again; everything that was accepted is written");
            }
        }
    }

    /** Another program may have filled a device: what is admitted from now on must not need a ballast as well. */
    private void forgetFree() {
        data.forgetFree();
        ofMetadata.forgetFree();
    }

    /** Deletes ballasts to make room for a commit that found none. Returns whether that freed anything. */
    public boolean freeBallasts() {
        forgetFree();
        return devices.ballasts().free("make what was changed durable");
    }

    /**
     * Returns whether the index may be brought up to date. It must not use the last space of a device that it shares
     * with parts that must be written.
     */
    public boolean hasRoomForIndex() throws IOException {
        boolean shared = hasContainers(devices.index()) || devices.index().equals(devices.metadata());
        return !shared || freeBytes() > 0;
    }

    /** Adds the ballast of another folder of containers, and creates it if there is room. */
    public void addBallast(Path data) throws IOException {
        devices.ballasts().add(data);
        restoreBallasts();
    }

    /** Deletes the ballast of a folder that has no containers any more. */
    public void removeBallast(Path data) {
        devices.ballasts().remove(data);
    }

    /** Checks the ballasts that the last mount left, and creates missing ones. */
    public void checkBallasts() {
        devices.ballasts().check();
        restoreBallasts();
    }

    /** Creates missing ballasts where there is room. */
    public void restoreBallasts() {
        if (!isShort()) {
            devices.ballasts().restore();
        }
    }
}
