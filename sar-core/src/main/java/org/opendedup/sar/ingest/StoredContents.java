package org.opendedup.sar.ingest;

import java.io.IOException;

/**
 * Reads a file's bytes as its recipe describes them now. Needed because a chunk that is partly overwritten is cut again
 * together with its old bytes.
 */
@FunctionalInterface
public interface StoredContents {
    /** Copies {@code length} bytes from {@code offset} on; holes and bytes after the recipe's end read as zeros. */
    void read(long inode, long offset, byte[] target, int at, int length) throws IOException;
}
