package org.opendedup.sar.volume;

import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.restore.ReadStream;

/**
 * One opening of a regular file, from {@link Volume#open} to {@link Volume#close(OpenFile)}. Opaque to front ends. Calls may be under way
 * when it is closed, those that were abandoned: the last one of them lets go of the file.
 */
public final class OpenFile {
    private final Node node;
    private final boolean writable;
    private final boolean mayUseReserve;
    private final int failuresKnown;
    private final ReadStream reader;
    /** Calls that read or sync the file now. Guarded by this, as is what is below it. */
    private int calls;

    private boolean closed;

    OpenFile(Node node, boolean writable, boolean mayUseReserve, int failuresKnown, ReadStream reader) {
        this.node = node;
        this.writable = writable;
        this.mayUseReserve = mayUseReserve;
        this.failuresKnown = failuresKnown;
        this.reader = reader;
    }

    public long inode() {
        return node.id;
    }

    public boolean isWritable() {
        return writable;
    }

    /** Whether what is written may take what of the capacity is kept for root. */
    boolean mayUseReserve() {
        return mayUseReserve;
    }

    Node node() {
        return node;
    }

    /** Failures of the file that others were told of before it was opened: those are not this opening's. */
    int failuresKnown() {
        return failuresKnown;
    }

    ReadStream reader() {
        return reader;
    }

    /** A call is going to use the file, and will {@link #end}. EBADF if it is closed. */
    synchronized void begin() throws PosixException {
        if (closed) {
            throw new PosixException(PosixException.Reason.EBADF, "the file was closed");
        }
        calls++;
    }

    /** Returns whether the caller has to let go of the file, which was closed meanwhile. */
    synchronized boolean end() {
        return --calls == 0 && closed;
    }

    /** Returns whether the caller has to let go of the file; if not, somebody else does, or did. */
    synchronized boolean markClosed() {
        boolean isFirst = !closed;
        closed = true;
        return isFirst && calls == 0;
    }
}
