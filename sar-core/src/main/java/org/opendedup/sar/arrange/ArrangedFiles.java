package org.opendedup.sar.arrange;

import java.io.IOException;
import java.util.concurrent.locks.Lock;
import java.util.function.LongUnaryOperator;

/** The files of a volume, as an arrangement changes them. */
public interface ArrangedFiles {
    /** Returns the lock that changes of the metadata hold. */
    Lock changes();

    /** Makes every change durable, and ends all containers that are being written: their chunks have places then. */
    void settle() throws IOException;

    /**
     * Admits bytes of new copies.
     *
     * @throws org.opendedup.sar.common.NoSpaceException if a device has no room for them
     */
    void admit(long bytes) throws IOException;

    /**
     * Makes pages of a file refer to other copies of the same chunks. Does nothing if there is no such file any more.
     *
     * @param copyOf returns the id that replaces another; {@link org.opendedup.sar.common.ChunkId#NONE} if it stays
     * @return number of references replaced
     */
    long replace(long inode, long[] pages, LongUnaryOperator copyOf) throws IOException;
}
