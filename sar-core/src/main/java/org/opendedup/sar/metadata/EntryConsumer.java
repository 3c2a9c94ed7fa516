package org.opendedup.sar.metadata;

import java.io.IOException;

/** Receives a directory's entries one by one; see {@link Namespace#list}. */
@FunctionalInterface
public interface EntryConsumer {
    /**
     * @param name the entry's name
     * @param inode inode number of the entry's target
     * @param type file type, as in {@code mode & S_IFMT}
     * @param cookie continues the listing after this entry
     * @return false if the entry was not accepted: the listing stops
     */
    boolean accept(byte[] name, long inode, int type, long cookie) throws IOException;
}
