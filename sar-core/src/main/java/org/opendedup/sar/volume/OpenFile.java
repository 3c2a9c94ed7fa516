package org.opendedup.sar.volume;

import java.util.concurrent.atomic.AtomicBoolean;
import org.opendedup.sar.restore.ReadStream;

/** One opening of a regular file, from {@link Volume#open} to {@link Volume#close(OpenFile)}. Opaque to front ends. */
public final class OpenFile {
    private final Node node;
    private final boolean writable;
    private final int failuresKnown;
    private final ReadStream reader;
    private final AtomicBoolean closed = new AtomicBoolean();

    OpenFile(Node node, boolean writable, int failuresKnown, ReadStream reader) {
        this.node = node;
        this.writable = writable;
        this.failuresKnown = failuresKnown;
        this.reader = reader;
    }

    public long inode() {
        return node.id;
    }

    public boolean isWritable() {
        return writable;
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

    /** True once. */
    boolean markClosed() {
        return closed.compareAndSet(false, true);
    }
}
