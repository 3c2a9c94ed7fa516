package org.opendedup.sar.volume.diff;

import java.io.Closeable;
import java.io.IOException;
import org.opendedup.sar.check.Scratch;
import org.opendedup.sar.sort.TupleSort;

/** What differs, sorted by inode: whether the file itself does, and names. */
final class Found implements Closeable {
    /** The kinds of changes of an inode, in the order in which they must be added. */
    enum Kind {
        /** The file shows something else. */
        CHANGED,
        /** A name in the first state, which the second does not have. */
        OLD,
        /** A name in the second state, which the first does not have. */
        NEW,
        /** Any name in the second state. */
        ANY
    }

    /** The bits of a file that differs. */
    static final long CONTENT = 1;

    static final long ATTRIBUTES = 2;
    static final long FOLDER = 4;

    /** It had names in the first state, but the root did not lead to them: it was in a clone that was being made. */
    static final long HIDDEN_BEFORE = 8;
    /** The same in the second state. */
    static final long HIDDEN_NOW = 16;

    private static final Kind[] KINDS = Kind.values();
    private static final int COLUMNS = 5;
    private static final int KIND_BITS = 2;

    private final TupleSort sort;
    private final long[] tuple = new long[COLUMNS];

    Found(Scratch scratch) {
        sort = new TupleSort(
                scratch.directory(), "found", COLUMNS, (int) scratch.memoryBytes(), scratch.steps(), scratch.keys());
    }

    void addChanged(long inode, long bits) throws IOException {
        add(inode, Kind.CHANGED, 0, bits, 0, 0);
    }

    void addName(long inode, Kind kind, Name name) throws IOException {
        add(inode, kind, name.type(), name.directory(), name.position(), name.other());
    }

    private void add(long inode, Kind kind, int type, long first, long second, long third) throws IOException {
        tuple[0] = inode;
        tuple[1] = (long) type << KIND_BITS | kind.ordinal();
        tuple[2] = first;
        tuple[3] = second;
        tuple[4] = third;
        sort.add(tuple);
    }

    /**
     * A name.
     *
     * @param directory inode number of its directory
     * @param position place in the directory, as {@link org.opendedup.sar.metadata.Namespace#position} says
     * @param type file type, as in {@code mode & S_IFMT}
     * @param other inode that the name has in the other state, if both are of the same type and no directories; else 0
     */
    record Name(long directory, long position, int type, long other) implements Comparable<Name> {
        @Override
        public int compareTo(Name that) {
            int byDirectory = Long.compare(directory, that.directory);
            return byDirectory != 0 ? byDirectory : Long.compare(position, that.position);
        }
    }

    /** Goes through all, by inode. */
    static final class Cursor {
        private final TupleSort.Cursor tuples;

        private Cursor(TupleSort.Cursor tuples) {
            this.tuples = tuples;
        }

        boolean next() throws IOException {
            return tuples.next();
        }

        long inode() {
            return tuples.get(0);
        }

        Kind kind() {
            return KINDS[(int) tuples.get(1) & (1 << KIND_BITS) - 1];
        }

        long bits() {
            return tuples.get(2);
        }

        Name name() {
            return new Name(tuples.get(2), tuples.get(3), (int) (tuples.get(1) >>> KIND_BITS), tuples.get(4));
        }
    }

    /** Returns what was added; nothing can be added afterwards. */
    Cursor sorted() throws IOException {
        return new Cursor(sort.sorted(Long.MIN_VALUE));
    }

    @Override
    public void close() throws IOException {
        sort.close();
    }
}
