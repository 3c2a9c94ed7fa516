package org.opendedup.sar.container;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;

/** A container of a {@link Pack} that is not sealed, as the pack sees it. */
interface PackMember {
    /** Returns whether nothing is written to this container any more, so that the next one of the pack may begin. */
    boolean isWritten();

    /** Returns whether {@link #writeNext} has something to write or drop. The container is the first of its pack. */
    boolean canWrite();

    /** Writes or drops the next frame, or completes the container. The caller holds the pack's lock. */
    void writeNext();

    /** Has the frames wait, because the disk is full. */
    void beginShortage(NoSpaceException cause);

    /** Ends the wait for space. */
    void endShortage();

    /**
     * Fails the container because the disk did.
     *
     * @param keepWritten whether the bytes that are in the file and not forced yet can still be relied on
     */
    void diskFailed(IOException cause, boolean keepWritten);

    /** Reads the frames whose force failed into memory. The caller holds the pack's lock. */
    void keepUnforced();

    /** Returns what is in the file, or null if all of it was forced already. The caller holds the pack's lock. */
    @Nullable
    WrittenExtent unforced();

    /** Notes that this much of the container was forced. The caller holds the pack's lock. */
    void noteForced(WrittenExtent extent);
}
