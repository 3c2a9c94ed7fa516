package org.opendedup.sar.tier;

import java.io.IOException;

/** Tells how many references there are to a stored chunk. */
@FunctionalInterface
public interface CountSource {
    /** References to that copy; 0 if it does not exist. */
    int count(long chunkId) throws IOException;
}
