package org.opendedup.sar.volume;

/**
 * What {@code statfs} shows. Bytes are logical: what the files hold, against the volume's capacity and what the disk can
 * still take.
 *
 * @param capacityBytes size of the volume
 * @param freeBytes what can still be written, in the worst case that nothing of it is a duplicate
 * @param files inodes in use
 */
public record SpaceUse(long capacityBytes, long freeBytes, long files) {}
