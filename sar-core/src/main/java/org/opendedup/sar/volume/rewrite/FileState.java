package org.opendedup.sar.volume.rewrite;

import org.opendedup.sar.volume.posix.InodeState;

/**
 * The state of a file that chunk references describe: its bytes at one moment.
 *
 * @param inode its attributes at that moment
 * @param isNewest false if the file may have newer bytes on the fast tier, which does not have them now
 */
public record FileState(InodeState inode, boolean isNewest) {
    /** Returns the length in bytes. */
    public long size() {
        return inode.attributes().size();
    }
}
