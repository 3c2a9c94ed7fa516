package org.opendedup.sar.volume.rewrite;

import java.io.IOException;

/** Receives the chunk references of a file, one per call. */
@FunctionalInterface
public interface ReferenceVisitor {
    /** @param fingerprintPrefix first four bytes of the chunk's fingerprint */
    void visit(long fileOffset, long chunkId, int chunkOffset, int length, int fingerprintPrefix) throws IOException;
}
