package org.opendedup.sar.sdfs.fuse;

import java.io.Closeable;
import java.io.IOException;

/** A mounted file system that is being served. */
public interface FuseMount extends Closeable {
    /**
     * Waits until the file system is unmounted by any process, the last request is answered and
     * {@link FuseFileSystem#end} has returned.
     */
    void awaitEnd() throws InterruptedException;

    /**
     * Unmounts the file system. First writes back the data in the kernel's cache. If programs use the file system, it
     * stays mounted.
     *
     * @throws IOException with "busy" in its message if programs use it
     */
    void unmount() throws IOException;

    /**
     * Makes the kernel send the written data in its cache that it has not sent yet. Do not call this from a thread that
     * serves this file system.
     */
    void writeBack() throws IOException;

    /**
     * Returns whether the kernel reads and writes the files of {@link FuseFileSystem#backing} itself, and if not, why.
     */
    Passthrough passthrough();

    /** Returns the native memory of the request and reply buffers, in bytes. */
    long bufferBytes();

    /**
     * Ends the service in bounded time. Tries to unmount. If programs still use the file system after a few seconds,
     * writes back the kernel's cache and detaches the file system; those programs then get errors. Waits for
     * {@link FuseFileSystem#end}. Idempotent.
     */
    @Override
    void close() throws IOException;
}
