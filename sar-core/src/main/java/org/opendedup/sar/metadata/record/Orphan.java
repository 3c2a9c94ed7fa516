package org.opendedup.sar.metadata.record;

/**
 * Recipe pages that no file shows any more, and whose references are still counted.
 *
 * @param inode inode number
 * @param fromPage first dead page; every page from it on is dead; 0: the whole inode
 */
public record Orphan(long inode, long fromPage) {}
