package org.opendedup.sar.hot.copies;

import java.io.IOException;

/**
 * Returns the number of references to a stored chunk: its occurrences in files. An occurrence in two recipe pages
 * counts once.
 */
@FunctionalInterface
public interface CountSource {
    /** Returns the references to this stored chunk; 0 if it does not exist. */
    int count(long chunkId) throws IOException;
}
