package org.opendedup.sar.restore;

import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches one reader of one file and reads ahead for it as long as it reads in sequence. The kernel sends the requests of
 * one sequential reader side by side and slightly out of order, so "in sequence" means: near where the last ones ended.
 * Safe for use by many threads.
 */
public final class ReadStream {
    private static final Logger log = LoggerFactory.getLogger(ReadStream.class);
    /** How far from its expected place a request may lie: the kernel's own read-ahead of a few MiB. */
    private static final long NEAR_BYTES = 4 << 20;
    /** A request in sequence after so many bytes starts the reading ahead; smaller readers are left alone. */
    private static final long WARM_UP_BYTES = 256 << 10;
    /** Bytes of the file fetched by the first task, so that they are there early. */
    private static final long FIRST_STEP_BYTES = 1 << 20;
    /**
     * Bytes fetched by one task, once so many were read in sequence: what a step needs is read in the order of the disk. (Seven images of machines with fixed chunks cost a modelled
     * disk 2564 seeks in steps of 2 MiB, 1486 in steps of 8 MiB, 866 in steps of 32 MiB.)
     */
    public static final long STEP_BYTES = 8 << 20;

    private final RestoreEngine engine;
    private final long inode;
    private final long windowBytes;
    private final ExecutorService prefetchers;

    /** Where the furthest request in sequence ended. */
    private long reached;
    /** Bytes read in sequence so far. */
    private long sequentialBytes;
    /** What lies before this offset was fetched or is being fetched. */
    private long aheadTo;

    ReadStream(RestoreEngine engine, long inode, long windowBytes, ExecutorService prefetchers) {
        this.engine = engine;
        this.inode = inode;
        this.windowBytes = windowBytes;
        this.prefetchers = prefetchers;
    }

    /** Notes a request for {@code length} bytes at {@code offset} of a file of {@code size} bytes, and reads ahead of it. */
    public void note(long offset, int length, long size) {
        long from;
        long to;
        long step;
        synchronized (this) {
            boolean near = Math.abs(offset - reached) <= (sequentialBytes >= WARM_UP_BYTES ? NEAR_BYTES : 0);
            if (!near) {
                reached = offset + length;
                sequentialBytes = 0;
                aheadTo = 0;
                return;
            }
            reached = Math.max(reached, offset + length);
            sequentialBytes += length;
            aheadTo = Math.max(aheadTo, reached);
            if (sequentialBytes < WARM_UP_BYTES || aheadTo >= size || aheadTo - reached > windowBytes / 2) {
                return;
            }
            from = aheadTo;
            to = Math.min(size, reached + windowBytes);
            aheadTo = to;
            step = Math.max(FIRST_STEP_BYTES, Math.min(STEP_BYTES, sequentialBytes));
        }
        for (long at = from; at < to; at += step) {
            submit(at, Math.min(to, at + step));
        }
    }

    private void submit(long from, long to) {
        try {
            prefetchers.execute(() -> {
                try {
                    engine.fetch(inode, from, to);
                } catch (IOException e) {
                    log.debug("reading ahead of inode {} failed; the reader will see why", inode, e);
                }
            });
        } catch (RejectedExecutionException e) {
            log.trace("too much is being read ahead already; inode {} goes without", inode);
        }
    }
}
