package org.opendedup.sar.metadata;

import java.io.IOException;

/** Takes a directory's entries one by one; see {@link Namespace#list}. */
@FunctionalInterface
public interface EntryConsumer {
    /**
     * @param name the entry's name
     * @param inode where it leads
     * @param type file type, as in {@code mode & S_IFMT}
     * @param cookie continues the listing behind this entry
     * @return false if the entry was not taken: the listing stops
     */
    boolean accept(byte[] name, long inode, int type, long cookie) throws IOException;
}
