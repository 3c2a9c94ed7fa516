package org.opendedup.sar.metadata.repair;

import java.io.IOException;

/** The backing files on the fast tier that have all bytes of their files, for a repair. */
public interface BackingFiles {
    /** There is no backing file. */
    long NONE = -1;

    /**
     * Returns the number of the backing file that was the last one of an inode; {@link #NONE} if it has none.
     *
     * @throws IOException if the fast tier cannot be used
     */
    long last(long inode) throws IOException;

    /** Receives inodes; see {@link #forEachInode}. */
    @FunctionalInterface
    interface Visitor {
        void visit(long inode) throws IOException;
    }

    /**
     * Visits the inodes of all backing files, in no order, some perhaps more than once.
     *
     * @throws IOException if the fast tier cannot be used
     */
    void forEachInode(Visitor visitor) throws IOException;
}
