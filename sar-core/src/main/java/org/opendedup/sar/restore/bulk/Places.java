package org.opendedup.sar.restore.bulk;

import java.io.Closeable;
import java.io.IOException;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.restore.frame.StopCheck;
import org.opendedup.sar.sort.TupleSort;

/**
 * The places that a restore fills, each with the reference of a recipe that fills it. Added in the order of the files
 * and returned in the order of the containers, whatever their number.
 */
public final class Places implements Closeable {
    private static final int CHUNK = 0;
    private static final int FILE = 1;
    private static final int OFFSET = 2;
    /** Offset in the chunk in the upper half, length in the lower. */
    private static final int SPAN = 3;

    private static final int CHECK = 4;
    private static final int COLUMNS = 5;

    private final TupleSort sort;
    private final long[] tuple = new long[COLUMNS];
    private long bytes;

    /**
     * @param scratch directory for places that do not fit into memory, 40 bytes each, unsealed as the files that are
     *     restored there
     * @param memoryBytes most bytes of places in memory
     * @param stop called while places are sorted
     */
    public Places(Directory scratch, int memoryBytes, StopCheck stop) {
        sort = new TupleSort(scratch, "places", COLUMNS, memoryBytes, stop::check, null);
    }

    /**
     * Adds a place.
     *
     * @param chunkId chunk whose bytes {@code chunkOffset} to {@code chunkOffset + length} belong there
     * @param fingerprintPrefix first four bytes of the chunk's fingerprint
     * @param file number by which the caller names the file
     * @param offset offset in that file, in bytes
     */
    public void add(long chunkId, int chunkOffset, int length, int fingerprintPrefix, long file, long offset)
            throws IOException {
        tuple[CHUNK] = chunkId;
        tuple[FILE] = file;
        tuple[OFFSET] = offset;
        tuple[SPAN] = (long) chunkOffset << Integer.SIZE | length;
        tuple[CHECK] = fingerprintPrefix;
        sort.add(tuple);
        bytes += length;
    }

    /** Bytes of all places. */
    public long bytes() {
        return bytes;
    }

    /** Returns all places of chunks with at least that id, by chunk. */
    Cursor from(long chunkId) throws IOException {
        return new Cursor(sort.sorted(chunkId));
    }

    /** Iterates over the places. */
    static final class Cursor {
        private final TupleSort.Cursor tuples;

        private Cursor(TupleSort.Cursor tuples) {
            this.tuples = tuples;
        }

        boolean next() throws IOException {
            return tuples.next();
        }

        long chunkId() {
            return tuples.get(CHUNK);
        }

        long file() {
            return tuples.get(FILE);
        }

        long offset() {
            return tuples.get(OFFSET);
        }

        int chunkOffset() {
            return (int) (tuples.get(SPAN) >>> Integer.SIZE);
        }

        int length() {
            return (int) tuples.get(SPAN);
        }

        int fingerprintPrefix() {
            return (int) tuples.get(CHECK);
        }
    }

    @Override
    public void close() throws IOException {
        sort.close();
    }
}
