package org.opendedup.sar.metadata;

import org.opendedup.sar.metadata.repair.BackingFiles;

/** A volume without raw files. */
public final class NoBackingFiles implements BackingFiles {
    @Override
    public long last(long inode) {
        return NONE;
    }

    @Override
    public void forEachInode(Visitor visitor) {}
}
