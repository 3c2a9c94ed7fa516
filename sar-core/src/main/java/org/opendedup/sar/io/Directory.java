package org.opendedup.sar.io;

import java.io.IOException;
import java.util.List;

/**
 * A place of named files. A name is a relative path with {@code /} between its parts ({@code "000000000f/000000000f0a.container"});
 * folders are made as they are needed. Safe for use by many threads.
 *
 * <p>Durability: bytes are durable after {@link Output#force()}; a creation, rename or deletion after {@link #sync()}.
 */
public interface Directory {
    /** Makes a new, empty file and opens it for appending; an existing one is an error. */
    Output create(String name) throws IOException;

    /** Opens a file for reading; it may be growing under an {@link Output} meanwhile. */
    Input open(String name) throws IOException;

    boolean exists(String name) throws IOException;

    /** A file's length in bytes, as of now. */
    long length(String name) throws IOException;

    /** Renames atomically, replacing {@code to} if it exists. */
    void rename(String from, String to) throws IOException;

    void delete(String name) throws IOException;

    /** Every file's name, sorted. */
    List<String> list() throws IOException;

    /** Makes every creation, rename and deletion so far durable. Costs nothing where there was none. */
    void sync() throws IOException;

    /** Bytes that can still be written to the underlying file system by this user. */
    long usableBytes() throws IOException;

    /** Where this is, as an administrator would find it; for messages. */
    @Override
    String toString();
}
