package org.opendedup.sar.metadata.remote;

import java.io.Closeable;
import java.io.IOException;

/**
 * Orders data before metadata in the object store (docs/adr/0004): metadata get there only when all bytes of containers
 * that they refer to are there. Safe for use by many threads.
 */
public interface DataBarrier extends Closeable {
    /** For metadata that refer to no containers elsewhere. */
    DataBarrier NONE = new DataBarrier() {
        @Override
        public long mark() {
            return 0;
        }

        @Override
        public void await(long mark) {}
    };

    /**
     * Returns a mark of what was forced before the call. A later mark is not lower. Called after each commit; must not
     * wait.
     */
    long mark();

    /**
     * Returns when everything before a mark is in the store.
     *
     * @throws IOException if the store does not take it now; the caller tries again later
     */
    void await(long mark) throws IOException;

    /** Notes that the store has all metadata up to a mark. What they do not name may be deleted there. */
    default void stored(long mark) {}

    /**
     * Returns whether checkpoints and log segments may be removed that newer ones replaced: nobody copies them. Asks
     * the store.
     */
    default boolean mayRemoveMetadata() throws IOException {
        return true;
    }

    /**
     * Called right before this machine becomes the owner of the metadata.
     *
     * @throws IOException if it must not, because another one may be
     */
    default void admit() throws IOException {}

    /** Called once when it is found that the metadata have another owner: nothing gets into the store any more. */
    default void ownerChanged(String why) {}

    /**
     * Called when nothing is committed any more: returns when all data are in the store, or it takes nothing for a
     * while. Metadata follow meanwhile.
     */
    default void drain() {}

    /** Called when no metadata follow any more: ends what puts the data into the store. */
    @Override
    default void close() throws IOException {}
}
