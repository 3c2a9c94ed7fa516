package org.opendedup.sar.sdfs.fuse.jnr;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.opendedup.sar.sdfs.fuse.MemoryFileSystem;
import org.opendedup.sar.volume.EntryVisitor;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.RenameMode;

/** A file system in memory that counts what it is asked. */
final class WatchedFileSystem extends MemoryFileSystem {
    int reads;
    int largestRead;
    int largestWrite;
    int truncations;
    int syncs;
    int unlinks;
    int renames;
    int mostEntriesListedAtOnce;

    @Override
    public synchronized int read(long handle, long offset, ByteBuffer target) throws IOException {
        reads++;
        largestRead = Math.max(largestRead, target.remaining());
        return super.read(handle, offset, target);
    }

    @Override
    public synchronized void write(long handle, long offset, ByteBuffer source) throws IOException {
        largestWrite = Math.max(largestWrite, source.remaining());
        super.write(handle, offset, source);
    }

    @Override
    public void sync(long handle) throws IOException {
        syncs++;
        super.sync(handle);
    }

    @Override
    public synchronized Attributes change(long inode, AttributeChange change) throws IOException {
        truncations += change.size() == null ? 0 : 1;
        return super.change(inode, change);
    }

    @Override
    public synchronized void unlink(long directory, byte[] name) throws IOException {
        unlinks++;
        super.unlink(directory, name);
    }

    @Override
    public synchronized void rename(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode)
            throws IOException {
        renames++;
        int unlinksBefore = unlinks;
        super.rename(directory, name, newDirectory, newName, mode);
        // Replacing a file is not unlinking it first, however it is done inside.
        unlinks = unlinksBefore;
    }

    @Override
    public synchronized void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor)
            throws IOException {
        int[] entries = new int[1];
        super.list(directory, cookie, withAttributes, (name, inode, type, next, attributes) -> {
            entries[0]++;
            return visitor.visit(name, inode, type, next, attributes);
        });
        mostEntriesListedAtOnce = Math.max(mostEntriesListedAtOnce, entries[0]);
    }
}
