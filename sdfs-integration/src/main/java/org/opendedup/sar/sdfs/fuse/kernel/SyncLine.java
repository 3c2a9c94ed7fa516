package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;

/** Where requests to make something durable may wait without a worker. */
interface SyncLine {
    /**
     * A request.
     *
     * @param pid thread that waits for the answer
     * @param uid user for whom
     * @param what for the log
     */
    record Asked(long unique, int pid, int uid, String what) {}

    /** Its work, but for the commit that it shares with others. */
    interface Sync {
        void store() throws IOException;

        /** After the commit. */
        void check() throws IOException;
    }

    /**
     * Takes a request over, which is then answered by others.
     *
     * @return false if the caller is to serve it itself, and to call {@link #served} then
     */
    boolean takes(Asked asked, Sync sync);

    void served();
}
