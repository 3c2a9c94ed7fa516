package org.opendedup.sar.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A file being written, by appending only. For one thread at a time. */
public interface Output extends Closeable {
    /**
     * Appends all of {@code source}'s remaining bytes.
     *
     * @return the offset in the file at which they begin
     * @throws org.opendedup.sar.common.NoSpaceException if they do not fit on the disk; the bytes of the file are then
     *     unchanged, and its reserved space may have been given back
     */
    long append(ByteBuffer source) throws IOException;

    /** Returns the number of bytes appended. */
    long position();

    /**
     * Has the system begin to write to the disk what was appended since the last call. Does not wait for it and makes
     * nothing durable: it only shortens a later {@link #force}.
     */
    default void startWriting() {}

    /** Makes every appended byte durable (the file's name needs {@link Directory#sync()}). */
    void force() throws IOException;

    /**
     * Asks the file system to keep space for the file up to {@code length} bytes from its start, so that later appends
     * lie in one piece and find space. The file's length and bytes do not change. The space stays reserved after a
     * close, and mostly after a crash, until {@link #trim}, {@link Directory#trim} or the deletion of the file. Call it
     * before the bytes that should lie there are appended: the file system may already have chosen another place for
     * bytes that are not forced.
     *
     * @return whether the space is reserved. If it is not, because the disk has too little or the file system cannot,
     *     what was reserved before may have been given back.
     */
    default boolean reserve(long length) {
        return false;
    }

    /**
     * Gives reserved space after the last appended byte back; durable with the next {@link #force}. Does nothing if
     * this output reserved none. Btrfs keeps the piece that one call of {@link #reserve} added if something was written
     * there, until the file is deleted.
     */
    default void trim() throws IOException {}

    /** Closes without forcing. Keeps reserved space. Idempotent. */
    @Override
    void close() throws IOException;
}
