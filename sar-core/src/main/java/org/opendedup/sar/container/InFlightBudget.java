package org.opendedup.sar.container;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.common.WriteFailedException;

/**
 * Bounds the memory of frames on their way to the disk. {@link #add} never waits; {@link #awaitRoom} waits until there
 * is room. While the disk is full or fails, no frame leaves memory, so {@link #awaitRoom} throws instead of waiting.
 */
final class InFlightBudget {
    private final long maxBytes;

    /** Bytes in flight. Guarded by this. */
    private long bytes;
    /** Number of containers that cannot be written because the disk is full. Guarded by this. */
    private int shortages;
    /** Cause of the latest shortage. Guarded by this. */
    private @Nullable NoSpaceException shortage;
    /**
     * Number of containers that cannot be written because the disk fails, and the cause of the latest failure. Guarded
     * by this.
     */
    private int failures;

    private @Nullable WriteFailedException failure;

    InFlightBudget(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /**
     * Waits until less than the bound is in flight. An interrupt does not end the wait; the thread's interrupt flag is
     * set again afterwards.
     *
     * @throws NoSpaceException if there is no room, and will be none until the disk has space
     * @throws WriteFailedException if there is no room, and will be none until the disk works again
     */
    synchronized void awaitRoom() throws IOException {
        Threads.await(this, () -> bytes < maxBytes || failure != null || shortage != null);
        if (bytes >= maxBytes && failure != null) {
            throw Failures.again("too many bytes wait for the disk", failure);
        }
        if (bytes >= maxBytes && shortage != null) {
            throw Failures.again("too many bytes wait for space", shortage);
        }
    }

    /** Notes that one more container's frames cannot be written until {@link #endShortage}. */
    synchronized void beginShortage(NoSpaceException cause) {
        shortages++;
        shortage = cause;
        notifyAll();
    }

    /** Undoes one {@link #beginShortage}. */
    synchronized void endShortage() {
        if (--shortages == 0) {
            shortage = null;
        }
    }

    /** As {@link #beginShortage}, for a container whose disk failed, until {@link #endFailure}. */
    synchronized void beginFailure(WriteFailedException cause) {
        failures++;
        failure = cause;
        notifyAll();
    }

    /** Undoes one {@link #beginFailure}. */
    synchronized void endFailure() {
        if (--failures == 0) {
            failure = null;
        }
    }

    synchronized void add(long added) {
        bytes += added;
    }

    /** Adds bytes if the sum stays within the bound; returns whether it did. */
    synchronized boolean tryAdd(long added) {
        boolean fits = bytes + added <= maxBytes;
        bytes += fits ? added : 0;
        return fits;
    }

    synchronized void release(long released) {
        bytes -= released;
        if (bytes < maxBytes) {
            notifyAll();
        }
    }
}
