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
     * @throws org.opendedup.sar.common.NoSpaceException if they do not fit on the disk; the file is then unchanged
     */
    long append(ByteBuffer source) throws IOException;

    /** Returns the number of bytes appended. */
    long position();

    /** Makes every appended byte durable (the file's name needs {@link Directory#sync()}). */
    void force() throws IOException;

    /** Closes without forcing. Idempotent. */
    @Override
    void close() throws IOException;
}
