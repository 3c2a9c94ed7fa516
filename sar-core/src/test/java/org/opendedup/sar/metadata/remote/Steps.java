package org.opendedup.sar.metadata.remote;

import java.io.IOException;

/** Sees the requests to an object store and the commits to a local database: a test stops or holds some of them. */
interface Steps {
    Steps FREE = (what, change) -> change.make();

    /** A step. */
    @FunctionalInterface
    interface Change {
        void make() throws IOException;
    }

    /** Makes a step, or fails before or after it. */
    void at(String what, Change change) throws IOException;
}
