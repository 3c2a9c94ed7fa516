package org.opendedup.sar.plugin;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.w3c.dom.Element;

/**
 * The engine as the plugin sees it. It has only types of the JDK and of this package, because the engine is loaded by a
 * class loader of its own. Fingerprints are those of SDFS. Safe for use by many threads.
 */
public interface PluginEngine extends Closeable {
    /** The answer that a chunk is not stored. */
    long NOT_FOUND = -1;

    /** Opens engines; the implementation has a public constructor without parameters. */
    interface Opener {
        /**
         * Opens the volume of chunks at its locations, or makes it if all of them are empty or absent.
         *
         * @param config the element {@code <extended-config>} of SDFS's volume file, which docs/PLUGIN.md describes
         * @throws IOException if it cannot be opened, or a setting is wrong; the message says why
         */
        PluginEngine open(Element config) throws IOException;
    }

    /** There is no room for a chunk. */
    final class NoRoomException extends IOException {
        private static final long serialVersionUID = 1;

        public NoRoomException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** Hears how far a collection is; returns false to stop it. */
    interface Progress {
        boolean collected(long doneBytes, long ofBytes);
    }

    /** The chunks of a volume, one after another. */
    interface Chunks {
        /** Goes to the next chunk; returns false after the last one. */
        boolean next() throws IOException;

        byte[] fingerprint();

        long location();

        int length();
    }

    /**
     * Figures of the volume, in bytes where nothing else is said.
     *
     * @param chunks number of chunks, with and without references
     * @param chunkBytes chunks before compression
     * @param containerBytes on the disk
     * @param capacityBytes what it may have
     * @param readBytes read since it was opened
     * @param writtenBytes written since it was opened, duplicates included
     */
    record Figures(
            long chunks, long chunkBytes, long containerBytes, long capacityBytes, long readBytes, long writtenBytes) {}

    /**
     * Stores a chunk unless its content is stored, and adds references.
     *
     * @param location receives the location in its first element
     * @return whether it was new
     * @throws NoRoomException if there is no room
     */
    boolean put(byte[] fingerprint, byte[] data, int length, int references, long stream, long[] location)
            throws IOException;

    /** Returns the location of a content, or {@link #NOT_FOUND}. */
    long find(byte[] fingerprint) throws IOException;

    /** Returns the bytes of a chunk, verified; null if it is not stored. */
    byte @Nullable [] get(byte[] fingerprint, long location) throws IOException;

    /** Adds to a count; returns the location that was counted, or {@link #NOT_FOUND}. */
    long claim(byte[] fingerprint, long location, long delta) throws IOException;

    /** Returns the number of references to the chunk at a location. */
    int references(long location) throws IOException;

    /** Says that the chunk at a location will be read. Does not wait for the disk. */
    void expectRead(long location) throws IOException;

    /** Makes everything durable that was done before the call. */
    void sync() throws IOException;

    /** Returns all chunks that were stored by now. */
    Chunks chunks() throws IOException;

    /**
     * Removes the chunks that had no reference for the grace period.
     *
     * @param everything whether to remove all of them; else the last 3 % of garbage stay, because they cost most
     * @return number of chunks that are gone
     */
    long collect(boolean everything, Progress progress) throws IOException;

    Figures figures();

    /** Deletes everything that the volume stored; the engine must be closed. */
    void delete() throws IOException;
}
