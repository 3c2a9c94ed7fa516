package org.opendedup.sar.volume;

/**
 * What a front end takes outside the heap to serve a volume.
 *
 * @param threads that serve requests, and read and write for them
 * @param bytes of the buffers that requests and replies lie in
 */
public record RequestBuffers(int threads, long bytes) {
    /** Of an engine that its caller's own threads use, with their own buffers. */
    public static final RequestBuffers NONE = new RequestBuffers(0, 0);
}
