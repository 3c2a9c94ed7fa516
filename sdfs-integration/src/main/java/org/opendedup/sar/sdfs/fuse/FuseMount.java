package org.opendedup.sar.sdfs.fuse;

import java.io.Closeable;
import java.io.IOException;

/** A mounted file system that is being served. */
public interface FuseMount extends Closeable {
    /**
     * Waits until the file system is unmounted, by whomever, the last request is answered and {@link
     * FuseOperations#end} has returned.
     */
    void awaitEnd() throws InterruptedException;

    /**
     * Unmounts, unless programs use the file system: then it stays as it is. Writes what the kernel holds back first.
     *
     * @throws IOException with "busy" in its message if programs use it
     */
    void unmount() throws IOException;

    /** Makes the kernel send what its cache holds of the file system and was not sent yet; not from a thread that serves it. */
    void writeBack() throws IOException;

    /** Native memory of the request and reply buffers, in bytes. */
    long bufferBytes();

    /**
     * Ends the service in bounded time. Tries to unmount; if programs still use the file system after a few seconds,
     * writes back what the kernel holds and detaches it, and those programs get errors. Waits for {@link
     * FuseOperations#end}. Idempotent.
     */
    @Override
    void close() throws IOException;
}
