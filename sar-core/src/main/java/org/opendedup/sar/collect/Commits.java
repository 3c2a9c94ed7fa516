package org.opendedup.sar.collect;

import java.io.IOException;
import java.util.concurrent.locks.Lock;

/** How the collector makes changes of a volume durable. */
public interface Commits {
    /** Returns the lock that changes of the metadata hold; a commit excludes them for a moment. */
    Lock changes();

    /** Makes every change that was made before the call durable, and everything that was appended to containers. */
    void commit() throws IOException;
}
