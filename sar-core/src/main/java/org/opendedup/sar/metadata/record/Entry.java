package org.opendedup.sar.metadata.record;

/**
 * The target of a directory entry.
 *
 * @param inode inode number
 * @param type file type, as in {@code mode & S_IFMT}
 */
public record Entry(long inode, int type) {}
