package org.opendedup.sar.sdfs.snapshot;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.volume.diff.Change;
import org.opendedup.sar.volume.diff.DiffReport;

/** The snapshots of a mounted volume. */
public interface SnapshotSource {
    /** Returns those that exist, in the order in which they were made. */
    List<SnapshotRecord> list();

    /** Returns the number of deleted snapshots of which something is not freed yet. */
    int beingFreed();

    /** Returns whether the volume receives those of another one, and programs do not change its files. */
    boolean isReplica() throws IOException;

    /** Returns the bytes of chunks, before compression, that deleting these snapshots together would free. ENOENT. */
    long bytesFreedBy(Collection<String> names, Progress progress) throws IOException;

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

    /**
     * Tells which paths show something else in a second state than in a first one, as
     * {@link org.opendedup.sar.volume.diff.SnapshotDiff} does.
     *
     * @param to null: what programs have written up to now
     */
    DiffReport diff(String from, @Nullable String to, Progress progress, Change.Consumer consumer) throws IOException;

    /** Deletes a snapshot; what only it had is freed in the background. */
    void delete(String name) throws IOException;
}
