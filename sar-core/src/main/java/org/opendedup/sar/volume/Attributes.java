package org.opendedup.sar.volume;

/**
 * What {@code stat} shows of an inode. Fields as in {@link org.opendedup.sar.metadata.Inode}; {@code blocks} counts 512
 * bytes each.
 */
public record Attributes(
        long inode,
        long generation,
        int mode,
        int links,
        int uid,
        int gid,
        int device,
        long size,
        long blocks,
        long accessedNs,
        long modifiedNs,
        long changedNs,
        long createdNs) {}
