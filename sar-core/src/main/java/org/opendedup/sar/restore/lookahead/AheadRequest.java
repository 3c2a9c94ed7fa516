package org.opendedup.sar.restore.lookahead;

import java.io.IOException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;

/** A request of a reader of a file, which may use chunks that were fetched ahead; to be closed. */
public interface AheadRequest extends AutoCloseable {
    /** Returns how many bytes of the request, from its first one on, may have been fetched ahead; 1 or more. */
    int length();

    /**
     * Returns the bytes of a chunk that the request wants at an offset of the file, to be closed; waits while they are
     * being fetched.
     *
     * @return null if they have not been fetched: the caller has to fetch them
     */
    @Nullable
    Pinned chunk(long chunkId, long at) throws IOException;

    /** Notes that the reader has got {@link #length} bytes of the request, from these chunks. */
    void took(Set<Long> chunks);

    @Override
    void close();
}
