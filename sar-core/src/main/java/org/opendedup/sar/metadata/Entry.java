package org.opendedup.sar.metadata;

/**
 * Where a name leads.
 *
 * @param inode inode number
 * @param type file type, as in {@code mode & S_IFMT}
 */
public record Entry(long inode, int type) {}
