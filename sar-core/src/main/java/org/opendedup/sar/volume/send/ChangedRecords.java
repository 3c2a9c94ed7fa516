package org.opendedup.sar.volume.send;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.versions.StateDifference;
import org.opendedup.sar.sort.SortSteps;
import org.opendedup.sar.sort.TupleSort;

/**
 * The records that two snapshots do not have in common, by the numbers in their keys, in the order of inodes; those of
 * one inode in the order of {@link #FAMILIES}. A record may be there twice. 24 bytes each, sorted on the disk if they
 * are many. For one thread.
 */
final class ChangedRecords implements Closeable {
    static final List<Family> FAMILIES = List.of(Family.INODE, Family.XATTR, Family.ENTRY, Family.RECIPE);

    /** Bytes of tuples in memory; ordering them takes half as much more. */
    static final int SORT_BYTES = 4 << 20;

    private static final int INODE = 0;
    private static final int FAMILY = 1;
    private static final int NUMBER = 2;
    private static final int COLUMNS = 3;

    private final TupleSort sort;
    private long pages;

    ChangedRecords(StateDifference difference, Directory scratch, @Nullable VolumeKeys keys, SortSteps steps)
            throws IOException {
        sort = new TupleSort(scratch, "changed", COLUMNS, SORT_BYTES, steps, keys);
        try {
            for (Family family : FAMILIES) {
                add(difference, family, steps);
            }
        } catch (IOException | RuntimeException e) {
            sort.close();
            throw e;
        }
    }

    private void add(StateDifference difference, Family family, SortSteps steps) throws IOException {
        long[] tuple = new long[COLUMNS];
        tuple[FAMILY] = FAMILIES.indexOf(family);
        boolean hasNumber = family == Family.ENTRY || family == Family.RECIPE;
        int[] until = {0};
        difference.forEachKey(family, key -> {
            if ((until[0]++ & 0xfff) == 0) {
                steps.step();
            }
            tuple[INODE] = Keys.longAt(key, 0);
            tuple[NUMBER] = hasNumber ? Keys.longAt(key, Keys.LONG_BYTES) : 0;
            pages += family == Family.RECIPE ? 1 : 0;
            sort.add(tuple);
        });
    }

    /** Returns the number of pages among them, about. */
    long pages() {
        return pages;
    }

    /** Returns those of inodes from a number on. */
    Cursor from(long inode) throws IOException {
        return new Cursor(sort.sorted(inode));
    }

    /** Iterates over records. */
    static final class Cursor {
        private final TupleSort.Cursor tuples;

        private Cursor(TupleSort.Cursor tuples) {
            this.tuples = tuples;
        }

        boolean next() throws IOException {
            return tuples.next();
        }

        long inode() {
            return tuples.get(INODE);
        }

        Family family() {
            return FAMILIES.get((int) tuples.get(FAMILY));
        }

        /** Returns the hash of a name, or the number of a page; else 0. */
        long number() {
            return tuples.get(NUMBER);
        }
    }

    @Override
    public void close() throws IOException {
        sort.close();
    }
}
