package org.opendedup.sar.container;

/**
 * The sizes of a volume's containers, in bytes: the length that a file should not exceed, and the two values that
 * follow from it, one for writing and one for reading.
 */
public final class ContainerSize {
    /**
     * Length that a container's file should not exceed: long enough for a disk to stream, short enough to be rewritten
     * at once.
     */
    static final int MAX_FILE_BYTES = 4 << 20;

    /** Room in the file for what may follow once the container is full: its last frames, and its directory. */
    private static final int TAIL_BYTES = 384 << 10;

    /**
     * Size of header and frames at which a container is full: no chunk is appended any more, and it is sealed. The
     * {@link ContainerOptions#containerBytes} of a volume.
     */
    public static final int FULL_BYTES = MAX_FILE_BYTES - TAIL_BYTES;

    /**
     * Chunk bytes that a reader expects in a container, to express memory and windows as a number of containers. Larger
     * than {@link #FULL_BYTES}: readers hold chunks decompressed, containers hold them compressed. An estimate; the
     * restore caches were measured with it (docs/RESTORE.md).
     */
    public static final int EXPECTED_CHUNK_BYTES = MAX_FILE_BYTES;

    private ContainerSize() {}
}
