package org.opendedup.sar.volume.parts;

import java.io.IOException;
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
 */
public record SpaceUse(long capacityBytes, long freeBytes, long availableBytes, long deviceFreeBytes, long files) {
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

    /**
     * Returns the number of files that can still be created, counting one block for each: there is no inode table that
     * could fill up.
     */
    public long freeFiles(int blockBytes) {
        return Math.min(freeBytes, deviceFreeBytes) / blockBytes;
    }
}
