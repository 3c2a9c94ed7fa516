package org.opendedup.sar.keys;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Where a copy is kept. Its bytes are written in two steps: what is prepared counts once it is committed. */
interface KeyHeaderPlace {
    /** Returns the folder or store, for messages. */
    String name();

    /** Returns what to do if copies cannot be kept there now; null: they can. */
    @Nullable
    String missing();

    boolean exists() throws IOException;

    /** Returns the bytes of the copy, or one more than a header may have; null if there is no copy. */
    byte @Nullable [] read() throws IOException;

    /**
     * Prepares a header.
     *
     * @param before the one from which it was made, or whose place it takes; null: it is the first one
     * @throws IOException also if another machine has put a later one there than {@code before}
     */
    void prepare(KeyHeader header, @Nullable KeyHeader before) throws IOException;

    void commit() throws IOException;

    /** Makes what was committed durable. */
    void sync() throws IOException;

    /** Forgets what was prepared. */
    void discard() throws IOException;

    default String file() {
        return name() + "/" + KeyHeader.NAME;
    }
}
