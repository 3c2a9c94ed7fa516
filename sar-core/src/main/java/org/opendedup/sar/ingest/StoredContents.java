package org.opendedup.sar.ingest;

import java.io.IOException;

/** Reads what a file's recipe says now. A chunk that is overwritten in part is cut again together with its old bytes. */
@FunctionalInterface
public interface StoredContents {
    /** Copies {@code length} bytes from {@code offset} on; holes and what lies behind the recipe read as zeros. */
    void read(long inode, long offset, byte[] target, int at, int length) throws IOException;
}
