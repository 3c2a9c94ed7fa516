package org.opendedup.sar.volume.config;

/**
 * The memory outside the heap that a front end uses to serve a volume.
 *
 * @param threads number of threads that serve requests, and read and write for them
 * @param bytes bytes of the buffers that hold requests and replies
 */
public record RequestBuffers(int threads, long bytes) {
    /** For an engine that is used by its caller's own threads with their own buffers. */
    public static final RequestBuffers NONE = new RequestBuffers(0, 0);
}
