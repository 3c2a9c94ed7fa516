package org.opendedup.sar.volume.posix;

/**
 * The attributes of an inode, as {@code stat} shows them. Fields as in {@link org.opendedup.sar.metadata.record.Inode};
 * {@code blocks} is in units of 512 bytes. All are from one moment of the call, except those of a raw file that only
 * its backing file shows: size, blocks, and the times of changes are from a moment of their own during the call.
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
        long createdNs) {
    Attributes withBytes(long newSize, long newModifiedNs) {
        return new Attributes(
                inode,
                generation,
                mode,
                links,
                uid,
                gid,
                device,
                newSize,
                blocks,
                accessedNs,
                newModifiedNs,
                changedNs,
                createdNs);
    }
}
