package org.opendedup.sar.volume;

/** One opening of a regular file, from {@link Volume#open} to {@link Volume#close(OpenFile)}. Opaque to front ends. */
public final class OpenFile {
    private final long inode;
    private final boolean writable;

    OpenFile(long inode, boolean writable) {
        this.inode = inode;
        this.writable = writable;
    }

    public long inode() {
        return inode;
    }

    public boolean isWritable() {
        return writable;
    }
}
