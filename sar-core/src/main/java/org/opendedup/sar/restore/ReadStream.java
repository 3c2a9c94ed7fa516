package org.opendedup.sar.restore;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches one reader of one file, and has what lies ahead of it fetched as long as it reads in sequence ({@link Lookahead}). The
 * kernel sends the requests of one sequential reader side by side and slightly out of order, so "in sequence" means: near where the
 * last ones ended. Small reads here and there are left alone. Safe for use by many threads.
 */
public final class ReadStream implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(ReadStream.class);
    /**
     * How far from its expected place a request may lie. The kernel has a dozen requests of up to 1 MiB under way, and whoever serves one
     * may be held up while others go on, quickly where the file has holes.
     */
    private static final long NEAR_BYTES = 16 << 20;
    /** A request in sequence after so many bytes starts the reading ahead; smaller readers are left alone. */
    private static final long WARM_UP_BYTES = 256 << 10;

    /** When reading ahead has failed, it is not tried again before the reader has come so far. */
    private static final long RETRY_BYTES = 8 << 20;

    private final RestoreEngine engine;
    private final long inode;

    /** Where the furthest request in sequence ended. Guarded by this, as is all below it. */
    private long reached;
    /** Bytes read in sequence so far. */
    private long sequentialBytes;

    private @Nullable Lookahead lookahead;
    private long noStartBefore;
    private boolean closed;

    ReadStream(RestoreEngine engine, long inode) {
        this.engine = engine;
        this.inode = inode;
    }

    /** Notes a request for {@code length} bytes at {@code offset} of a file of {@code size} bytes, and reads ahead of it. */
    public synchronized void note(long offset, int length, long size) {
        boolean near = Math.abs(offset - reached) <= (sequentialBytes >= WARM_UP_BYTES ? NEAR_BYTES : 0);
        if (!near) {
            reached = offset + length;
            sequentialBytes = 0;
            noStartBefore = 0;
            stop();
            return;
        }
        reached = Math.max(reached, offset + length);
        sequentialBytes += length;
        if (lookahead != null && lookahead.isClosed()) {
            // What could not be read lies before the reader: he has to come past it.
            noStartBefore = lookahead.hasFailed() ? reached + RETRY_BYTES : 0;
            lookahead = null;
        }
        if (lookahead != null) {
            lookahead.note(reached, size);
        } else if (sequentialBytes >= WARM_UP_BYTES && reached >= noStartBefore && reached < size && !closed) {
            start(size);
        }
    }

    private void start(long size) {
        try {
            lookahead = engine.streams().start(inode, reached, size);
            if (lookahead != null) {
                lookahead.note(reached, size);
            }
        } catch (IOException e) {
            log.debug("inode {} can't be read ahead; the reader will see why", inode, e);
        }
    }

    private void stop() {
        if (lookahead != null) {
            lookahead.close();
            lookahead = null;
        }
    }

    /** Reads as {@link RestoreEngine#read} does, from what was fetched ahead where it was. */
    public void read(long offset, int length, ByteBuffer target) throws IOException {
        Lookahead ahead;
        synchronized (this) {
            ahead = lookahead;
        }
        if (ahead == null) {
            engine.read(inode, offset, length, target);
            return;
        }
        ahead.enter();
        try {
            int start = target.position();
            if (!engine.readAhead(ahead, inode, offset, length, target)) {
                target.position(start);
                engine.read(inode, offset, length, target);
            }
        } finally {
            ahead.leave();
        }
    }

    /** The reader is done: what was fetched for it is forgotten. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        stop();
    }
}
