package org.opendedup.sar.ingest;

/**
 * A run of new bytes of one file, without gaps from {@link #start} to {@link #end} (offsets in the file). Immutable.
 */
public interface ByteRun {
    long start();

    /** Returns the offset one past the last byte. */
    long end();

    /**
     * Copies {@code length} bytes of the file, beginning at offset {@code from}; all of them must be within the run.
     */
    void copy(long from, byte[] target, int at, int length);

    /** Returns whether other threads may help with the bytes copied last; if not, the run leaves them to others. */
    default boolean isHelped() {
        return true;
    }
}
