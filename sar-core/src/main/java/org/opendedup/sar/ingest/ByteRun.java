package org.opendedup.sar.ingest;

/**
 * A run of new bytes of one file, without gaps from {@link #start} to {@link #end} (offsets in the file). Immutable.
 */
public interface ByteRun {
    long start();

    /** Returns the offset one past the last byte. */
    long end();

    /**
     * A part of the run in memory: {@code data[from .. to)}.
     *
     * @param room number of bytes before {@code from} that nobody uses, and that may be overwritten once
     */
    record Piece(byte[] data, int from, int to, int room) {
        /** Returns its number of bytes. */
        public int length() {
            return to - from;
        }
    }

    /** Returns the part of the run that is contiguous in memory and begins at offset {@code from}. */
    Piece piece(long from);

    /** Returns whether each piece, but perhaps the last, has room for {@link IngestPipeline#ROOM_BYTES}. */
    boolean hasRoom();

    /**
     * Copies {@code length} bytes of the file, beginning at offset {@code from}; all of them must be within the run.
     */
    void copy(long from, byte[] target, int at, int length);
}
