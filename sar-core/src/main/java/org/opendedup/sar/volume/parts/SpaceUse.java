package org.opendedup.sar.volume.parts;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.quota.Quotas;
import org.opendedup.sar.volume.node.Capacity;

/**
 * The space of a volume, as {@code statfs} shows it. Bytes are logical: the data of the files without holes.
 *
 * @param capacityBytes size of the volume, in bytes
 * @param freeBytes bytes of the capacity that the files do not use, including root's share
 * @param availableBytes bytes that users other than root can write now, in the worst case that none of them are
 *     duplicates: the smaller of what the capacity leaves them and what the devices can store
 * @param deviceFreeBytes bytes that the devices can still store in that case, with what a collection of garbage would
 *     give back, because a full device begins one; the device with the least space decides
 * @param files number of inodes in use
 * @param leftFiles number of inodes that a quota still admits; {@link Long#MAX_VALUE} if none limits them
 */
public record SpaceUse(
        long capacityBytes, long freeBytes, long availableBytes, long deviceFreeBytes, long files, long leftFiles) {
    /** Of a volume without a quota. */
    public SpaceUse(long capacityBytes, long freeBytes, long availableBytes, long deviceFreeBytes, long files) {
        this(capacityBytes, freeBytes, availableBytes, deviceFreeBytes, files, Long.MAX_VALUE);
    }

    /** Returns the space of an open volume at this moment. */
    public static SpaceUse of(VolumeContext context) throws IOException {
        Capacity capacity = context.capacity();
        long onDevices = context.devices().freeBytesWith(context.collector().returnableBytes());
        return new SpaceUse(
                capacity.capacityBytes(),
                capacity.freeBytes(true),
                Math.min(onDevices, capacity.freeBytes(false)),
                onDevices,
                context.metadata().totals().files());
    }

    /** Returns the space in a folder with a quota: the limits take the place of the capacity where they are less. */
    public SpaceUse within(Quotas.@Nullable Left left) {
        if (left == null) {
            return this;
        }
        boolean areBytes = left.limitBytes() > 0;
        boolean areFiles = left.limitFiles() > 0;
        long leftBytes = areBytes ? left.leftBytes() : Long.MAX_VALUE;
        return new SpaceUse(
                areBytes ? Math.min(capacityBytes, left.limitBytes()) : capacityBytes,
                Math.min(freeBytes, leftBytes),
                Math.min(availableBytes, leftBytes),
                deviceFreeBytes,
                areFiles ? left.limitFiles() - Math.min(left.limitFiles(), left.leftFiles()) : files,
                areFiles ? left.leftFiles() : leftFiles);
    }

    /**
     * Returns the number of files that can still be created: what a quota leaves, or else one for each free block,
     * because there is no inode table that could fill up.
     */
    public long freeFiles(int blockBytes) {
        return leftFiles < Long.MAX_VALUE
                ? Math.min(leftFiles, deviceFreeBytes / blockBytes)
                : Math.min(freeBytes, deviceFreeBytes) / blockBytes;
    }
}
