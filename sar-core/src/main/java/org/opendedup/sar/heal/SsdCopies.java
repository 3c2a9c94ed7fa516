package org.opendedup.sar.heal;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The copies of chunks on the SSD. */
@FunctionalInterface
public interface SsdCopies {
    /**
     * Returns the copy of a chunk, which the caller verifies; null if there is none, or it cannot be read.
     *
     * @param length length of the chunk in bytes
     * @throws IOException if the SSD does not answer
     */
    byte @Nullable [] copy(long chunkId, int length, int fingerprintPrefix) throws IOException;
}
