package org.opendedup.sar.volume.rewrite;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.sort.TupleSort;

/**
 * Finds the copies with equal fingerprints and lengths among sorted chunks, at most {@value #MAX_COPIES} of one content
 * at a time: those of more are several groups. For one thread.
 */
final class DuplicateGroups {
    /** Longs of a tuple: the four of a fingerprint, the length, and the chunk's id. */
    static final int COLUMNS = 6;

    private static final int LENGTH = 4;
    private static final int CHUNK = 5;
    /** A group and the chunks that only begin alike take at most 256 KiB. */
    private static final int MAX_COPIES = 4096;

    private static final Comparator<long[]> ORDER = DuplicateGroups::compare;

    private final TupleSort.Cursor cursor;
    private boolean isAtTuple;
    /** Tuples with the same first long, in order; groups are runs of it. */
    private final List<long[]> alike = new ArrayList<>();

    private int from;
    private int to;

    DuplicateGroups(TupleSort.Cursor cursor) throws IOException {
        this.cursor = cursor;
        isAtTuple = cursor.next();
    }

    /** Sets a tuple to those of a chunk. */
    static void set(long[] tuple, byte[] fingerprints, int at, int length, long chunkId) {
        ByteBuffer fingerprint = ByteBuffer.wrap(fingerprints, at, Fingerprints.BYTES);
        for (int column = 0; column < LENGTH; column++) {
            tuple[column] = fingerprint.getLong();
        }
        tuple[LENGTH] = length;
        tuple[CHUNK] = chunkId;
    }

    /** Moves to the next group of two copies or more; false if there is none. */
    boolean next() throws IOException {
        from = to;
        while (true) {
            if (from == alike.size() && !readAlike()) {
                return false;
            }
            to = from + 1;
            while (to < alike.size() && isSame(alike.get(from), alike.get(to))) {
                to++;
            }
            if (to - from > 1) {
                return true;
            }
            from = to;
        }
    }

    /** Returns the number of copies. */
    int size() {
        return to - from;
    }

    /** Returns the id of a copy; they ascend. */
    long chunk(int copy) {
        return alike.get(from + copy)[CHUNK];
    }

    /** Returns the length of each copy, in bytes. */
    int length() {
        return (int) alike.get(from)[LENGTH];
    }

    /** Puts the fingerprint of all copies into an array. */
    void fingerprint(byte[] target, int at) {
        ByteBuffer fingerprint = ByteBuffer.wrap(target, at, Fingerprints.BYTES);
        for (int column = 0; column < LENGTH; column++) {
            fingerprint.putLong(alike.get(from)[column]);
        }
    }

    /** Reads tuples until at least two begin alike; false if there are none. */
    private boolean readAlike() throws IOException {
        alike.clear();
        from = 0;
        to = 0;
        long[] first = new long[COLUMNS];
        while (isAtTuple) {
            get(first);
            isAtTuple = cursor.next();
            if (isAtTuple && cursor.get(0) == first[0]) {
                alike.add(first);
                readRest(first[0]);
                alike.sort(ORDER);
                return true;
            }
        }
        return false;
    }

    private void readRest(long key) throws IOException {
        while (isAtTuple && cursor.get(0) == key && alike.size() < MAX_COPIES) {
            long[] tuple = new long[COLUMNS];
            get(tuple);
            alike.add(tuple);
            isAtTuple = cursor.next();
        }
    }

    private void get(long[] tuple) {
        for (int column = 0; column < COLUMNS; column++) {
            tuple[column] = cursor.get(column);
        }
    }

    private static int compare(long[] one, long[] other) {
        for (int column = 0; column < COLUMNS; column++) {
            if (one[column] != other[column]) {
                return Long.compare(one[column], other[column]);
            }
        }
        return 0;
    }

    private static boolean isSame(long[] one, long[] other) {
        for (int column = 0; column <= LENGTH; column++) {
            if (one[column] != other[column]) {
                return false;
            }
        }
        return true;
    }
}
