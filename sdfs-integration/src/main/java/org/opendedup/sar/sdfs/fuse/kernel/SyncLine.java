package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.util.function.Supplier;

/** A queue in which sync requests wait without a worker. */
interface SyncLine {
    /**
     * A sync request.
     *
     * @param unique number of the request
     * @param pid ID of the thread that waits for the answer
     * @param uid ID of the user who waits
     * @param what name for the log if the request fails; any thread may call it
     */
    record Asked(long unique, int pid, int uid, Supplier<String> what) {}

    /** The work of a sync request, without the commit that it shares with others. */
    interface Sync {
        void store() throws IOException;

        /** Does what {@link #store} does, if that waits for nothing. Returns false if {@link #store} must be called. */
        default boolean storeAtOnce() throws IOException {
            return false;
        }

        /** Returns whether {@link #store} uses the fast tier. */
        default boolean isOnFastTier() {
            return false;
        }

        /**
         * Returns whether the commit may run beside {@link #store}, because neither needs what the other makes durable.
         * Called before {@link #store}.
         */
        default boolean storesBesideCommit() throws IOException {
            return false;
        }

        /** Returns whether what was stored is durable only after a commit. Called after {@link #store}. */
        default boolean needsCommit() throws IOException {
            return true;
        }

        /** Checks the file for failures. Called after the commit. */
        void check() throws IOException;
    }

    /**
     * Takes over a request, which other threads then answer.
     *
     * @return false if the caller must call {@link #serve}
     */
    boolean takes(Asked asked, Sync sync);

    /** Serves a request that was not taken over: returns when it is durable. */
    void serve(Sync sync) throws IOException;
}
