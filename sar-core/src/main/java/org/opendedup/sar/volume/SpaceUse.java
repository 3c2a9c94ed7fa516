package org.opendedup.sar.volume;

/**
 * What {@code statfs} shows. Bytes are logical: what the files hold without holes, against the volume's capacity and what the disk
 * can still take.
 *
 * @param capacityBytes size of the volume
 * @param freeBytes what root can still write, in the worst case that nothing of it is a duplicate
 * @param availableBytes what others can: less than that by what of the capacity is kept for root
 * @param files inodes in use
 */
public record SpaceUse(long capacityBytes, long freeBytes, long availableBytes, long files) {}
