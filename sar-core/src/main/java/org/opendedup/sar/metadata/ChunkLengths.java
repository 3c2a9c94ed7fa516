package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.Set;

/** Tells how long chunks are whose counts are lost. */
public interface ChunkLengths {
    /** Is called once before {@link #of}, with all containers of which lengths are asked for. */
    void prepare(Set<Long> containers) throws IOException;

    /**
     * Returns the length of a chunk in bytes before compression; 0 if it is not known.
     *
     * @param fingerprintPrefix first four bytes of its fingerprint
     */
    int of(long container, int slot, int fingerprintPrefix) throws IOException;
}
