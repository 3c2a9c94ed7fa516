package org.opendedup.sar.sdfs.snapshot;

import java.io.IOException;
import java.util.List;
import org.opendedup.sar.metadata.record.SnapshotRecord;

/** The snapshots of a mounted volume. */
public interface SnapshotSource {
    /** Returns those that exist, in the order in which they were made. */
    List<SnapshotRecord> list();

    /** Returns the number of deleted snapshots of which something is not freed yet. */
    int beingFreed();

    /** Returns the bytes of chunks, before compression, that deleting this snapshot alone would free. ENOENT. */
    long bytesFreedBy(String name) throws IOException;

    /**
     * Makes a snapshot of all that programs have written up to now, also of what the kernel has not sent yet.
     *
     * @param heldUntilMs until when it must not be deleted, in milliseconds since 1970; 0: it may be
     * @param isScheduled whether a schedule makes it
     */
    SnapshotRecord create(String name, long heldUntilMs, boolean isScheduled) throws IOException;

    /**
     * Lets a snapshot be held until a time, or longer.
     *
     * @param untilMs in milliseconds since 1970
     */
    SnapshotRecord hold(String name, long untilMs) throws IOException;

    /** Deletes a snapshot; what only it had is freed in the background. */
    void delete(String name) throws IOException;
}
