package org.opendedup.sar.volume.commit;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.WriteFailedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records whether the volume accepts changes. A failed disk write stops them: nothing more is stored or committed,
 * reads continue, and changes that are not durable stay in memory. {@link Committer#resume} ends the stop. Safe for use
 * by many threads.
 */
public final class WriteStop {
    private static final Logger log = LoggerFactory.getLogger(WriteStop.class);

    /** Why a volume that was opened for reading only refuses something, as text. */
    public static final String READ_ONLY = "the volume is mounted read-only";

    private record Cause(IOException failure, boolean resumable) {}

    /** Whether the volume was opened so that nothing of it changes. */
    private final boolean readOnly;

    private volatile @Nullable Cause cause;

    public WriteStop(boolean readOnly) {
        this.readOnly = readOnly;
    }

    /** Returns whether the volume was opened so that nothing of it changes, for as long as it is open. */
    boolean isReadOnly() {
        return readOnly;
    }

    /**
     * Stops changes. Keeps the first cause, unless a later one makes it impossible for the volume to continue.
     *
     * @param resumable whether everything accepted is still in memory, in a known state
     */
    public synchronized void begin(IOException failure, boolean resumable) {
        Cause earlier = cause;
        if (earlier == null) {
            cause = new Cause(failure, resumable);
            log.error(
                    "a write to the volume's disks failed; the volume is read-only from now on, "
                            + "and everything durable is kept{}",
                    resumable ? ", and the rest waits in memory: see 'sdfscli VOLUME resume'" : "",
                    failure);
        } else if (earlier.resumable && !resumable) {
            cause = new Cause(failure, false);
            log.error("the volume stays read-only until it is unmounted and mounted again", failure);
        }
    }

    synchronized void end() {
        cause = null;
    }

    public boolean isStopped() {
        return readOnly || cause != null;
    }

    /** Returns why changes are stopped, or null. */
    @Nullable
    IOException failure() {
        Cause now = cause;
        return now == null ? null : now.failure;
    }

    /** Returns whether changes can be resumed without a new mount; true if they are not stopped. */
    boolean isResumable() {
        Cause now = cause;
        return now == null || now.resumable;
    }

    /** Throws EROFS if changes are stopped; for callers that change something. */
    public void refuseChanges() throws PosixException {
        if (readOnly) {
            throw new PosixException(PosixException.Reason.EROFS, READ_ONLY);
        }
        Cause now = cause;
        if (now != null) {
            throw new PosixException(
                    PosixException.Reason.EROFS,
                    "the volume is read-only since a write failed: " + now.failure.getMessage());
        }
    }

    /** Throws an I/O error if changes are stopped; for callers that make something durable. */
    public void refuseStoring() throws WriteFailedException {
        Cause now = cause;
        if (now != null) {
            throw new WriteFailedException("an earlier write failed: " + now.failure.getMessage(), now.failure);
        }
    }

    /** Throws an I/O error that explains what to do, if changes cannot be resumed. */
    void requireResumable() throws IOException {
        Cause now = cause;
        if (now != null && !now.resumable) {
            throw new IOException(
                    "the volume cannot resume in place; unmount and mount it to get the last committed state. "
                            + "The reason: " + now.failure.getMessage(),
                    now.failure);
        }
    }
}
