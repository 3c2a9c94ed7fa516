package org.opendedup.sar.volume.chunks;

import java.io.IOException;

/**
 * The references of the client of a {@link ChunkVolume}, as the client's own maps of files have them. What they name is
 * never garbage, whatever the counts say: a client loses calls when its process is killed, and repeats others.
 */
@FunctionalInterface
public interface ClientReferences {
    /** Receives references, in any order; one may come several times. */
    @FunctionalInterface
    interface Visitor {
        /**
         * @param location where the chunk was put; any other number if the client does not know
         * @param length bytes of the chunk, by which most wrong locations are told; any other number if the client does
         *     not know
         */
        void reference(byte[] fingerprint, long location, int length) throws IOException;
    }

    /**
     * Visits each reference that is in a map from the beginning of the call to its end. One that comes or goes
     * meanwhile may be left out.
     *
     * @throws IOException if a map cannot be read; the message says which, and what to do
     */
    void visit(Visitor visitor) throws IOException;
}
