package org.opendedup.sar.volume.backup;

/**
 * A file with bytes that cannot be read any more.
 *
 * @param inode its number
 * @param path from the volume's root; empty if it has no name that can be found
 * @param bytes bytes that cannot be read
 */
public record DamagedFile(long inode, String path, long bytes) {}
