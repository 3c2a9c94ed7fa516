package org.opendedup.sar.ingest;

/** New bytes of one file, without gaps from {@link #start} to {@link #end} (offsets in the file). Immutable. */
public interface ByteRun {
    long start();

    /** One past the last byte. */
    long end();

    /** Copies {@code length} bytes from offset {@code from} of the file on, all within the run. */
    void copy(long from, byte[] target, int at, int length);
}
