package org.opendedup.sar.volume.node;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.restore.ReadStream;
import org.opendedup.sar.volume.Volume;

/**
 * One opening of a regular file, from {@link Volume#open} to {@link Volume#close(OpenFile)}. Opaque to front ends.
 * Calls that were abandoned may still be running when it is closed; the last of them then releases the file.
 */
public final class OpenFile {
    /** Heap size of an open file with its contents, reader, handle and name, in bytes; measured. Without its node. */
    public static final int BYTES = 1024;

    private static final int ROOT = 0;

    private final Node node;
    private final boolean writable;
    private final int user;
    private final int failuresKnown;
    private final ReadStream reader;
    private final @Nullable RawFile raw;
    /** Number of calls that read or sync the file now. Guarded by this, as are the fields below. */
    private int calls;

    private boolean closed;

    public OpenFile(
            Node node, boolean writable, int user, int failuresKnown, ReadStream reader, @Nullable RawFile raw) {
        this.node = node;
        this.writable = writable;
        this.user = user;
        this.failuresKnown = failuresKnown;
        this.reader = reader;
        this.raw = raw;
    }

    public long inode() {
        return node.id;
    }

    public boolean isWritable() {
        return writable;
    }

    /** Returns who opened the file. */
    public int user() {
        return user;
    }

    /** Returns whether writes may use the part of the capacity that is reserved for root. */
    public boolean mayUseReserve() {
        return user == ROOT;
    }

    public Node node() {
        return node;
    }

    /**
     * Returns the number of failures of the file that were reported before it was opened. This opening does not report
     * them again.
     */
    public int failuresKnown() {
        return failuresKnown;
    }

    /** Returns the file's place on the fast tier; null if its bytes are in chunks. Stays as it was at the opening. */
    public @Nullable RawFile raw() {
        return raw;
    }

    /** See {@link Node#takeRenewed}. */
    public boolean takeRenewed() {
        return node.takeRenewed();
    }

    /** Returns whether the file's bytes are on the fast tier. */
    public boolean isOnFastTier() {
        return raw != null;
    }

    public ReadStream reader() {
        return reader;
    }

    /** Registers a call that uses the file and that must call {@link #end}. EBADF if the file is closed. */
    public synchronized void begin() throws PosixException {
        if (closed) {
            throw new PosixException(PosixException.Reason.EBADF, "the file was closed");
        }
        calls++;
    }

    /** Ends a call. Returns whether the caller must release the file because it was closed meanwhile. */
    public synchronized boolean end() {
        return --calls == 0 && closed;
    }

    /**
     * Marks the file as closed. Returns whether the caller must release the file; if not, another call does so, or has
     * done so.
     */
    public synchronized boolean markClosed() {
        boolean isFirst = !closed;
        closed = true;
        return isFirst && calls == 0;
    }
}
