package org.opendedup.sar.volume.rewrite;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.sort.TupleSort;

/** Groups of sorted chunks. */
class DuplicateGroupsTest {
    /** Tuples in order, as a sort by their first long returns them. */
    private record Sorted(List<long[]> tuples, int[] at) implements TupleSort.Cursor {
        @Override
        public boolean next() {
            return at[0]++ < tuples.size();
        }

        @Override
        public long get(int column) {
            return tuples.get(at[0] - 1)[column];
        }
    }

    private final List<long[]> tuples = new ArrayList<>();

    /** Adds a chunk whose fingerprint has zeros between its first and its last byte. */
    private void add(int first, int last, int length, long chunk) {
        long[] tuple = new long[DuplicateGroups.COLUMNS];
        DuplicateGroups.set(tuple, fingerprint(first, last), 0, length, chunk);
        tuples.add(tuple);
    }

    private static byte[] fingerprint(int first, int last) {
        byte[] fingerprint = new byte[Fingerprints.BYTES];
        fingerprint[0] = (byte) first;
        fingerprint[Fingerprints.BYTES - 1] = (byte) last;
        return fingerprint;
    }

    private DuplicateGroups groups() throws IOException {
        return new DuplicateGroups(new Sorted(tuples, new int[1]));
    }

    @Test
    void nothingHasNoGroup() throws IOException {
        assertFalse(groups().next());
        add(1, 1, 10, 7);
        assertFalse(groups().next());
    }

    @Test
    void fingerprintsThatBeginAlikeAndLengthsAreToldApart() throws IOException {
        add(1, 1, 10, 90);
        add(2, 5, 10, 80);
        add(2, 4, 10, 70);
        add(2, 5, 11, 60);
        add(2, 5, 10, 50);
        add(2, 4, 10, 40);
        add(2, 4, 10, 75);
        add(3, 1, 10, 30);
        add(4, 9, 8, 20);
        add(4, 9, 8, 10);
        DuplicateGroups groups = groups();
        List<List<Long>> found = new ArrayList<>();
        List<Integer> lengths = new ArrayList<>();
        byte[] last = new byte[Fingerprints.BYTES];
        while (groups.next()) {
            List<Long> chunks = new ArrayList<>();
            for (int copy = 0; copy < groups.size(); copy++) {
                chunks.add(groups.chunk(copy));
            }
            found.add(chunks);
            lengths.add(groups.length());
            groups.fingerprint(last, 0);
        }
        assertEquals(List.of(List.of(40L, 70L, 75L), List.of(50L, 80L), List.of(10L, 20L)), found);
        assertEquals(List.of(10, 10, 8), lengths);
        assertArrayEquals(fingerprint(4, 9), last);
    }

    @Test
    void manyCopiesAreSeveralGroups() throws IOException {
        for (int chunk = 1; chunk <= 10_000; chunk++) {
            add(1, 1, 10, chunk);
        }
        DuplicateGroups groups = groups();
        int copies = 0;
        int times = 0;
        while (groups.next()) {
            copies += groups.size();
            times++;
        }
        assertEquals(10_000, copies);
        assertEquals(3, times);
    }
}
