package org.opendedup.sar.check;

import java.io.Closeable;
import java.io.IOException;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.sort.TupleSort;

/**
 * References of recipes, sorted by chunk. Memory is bounded, whatever their number: what does not fit is written to
 * scratch files, 40 bytes for each reference. For one thread.
 */
final class References implements Closeable {
    private static final int COLUMNS = 5;

    private final TupleSort sort;
    private final long[] tuple = new long[COLUMNS];

    References(Scratch scratch) {
        sort = new TupleSort(
                scratch.directory(), "references", COLUMNS, scratch.referenceBytes(), scratch.steps(), scratch.keys());
    }

    /** Adds the references of a page. */
    void add(long inode, long pageStart, RecipePage page) throws IOException {
        for (int entry = 0; entry < page.count(); entry++) {
            if (!page.isZero(entry)) {
                tuple[0] = page.chunkId(entry);
                tuple[1] = (long) page.fingerprintPrefix(entry) << Integer.SIZE | page.chunkOffset(entry);
                tuple[2] = page.length(entry);
                tuple[3] = inode;
                tuple[4] = pageStart + page.start(entry);
                sort.add(tuple);
            }
        }
    }

    /** Returns all references in the order of containers and slots. Nothing may be added afterwards. */
    Reader read() throws IOException {
        return new Reader(sort.sorted(0));
    }

    /** Reads the references of one container after the other. */
    static final class Reader {
        private final TupleSort.Cursor cursor;
        private boolean isAhead;
        private boolean hasMore;

        private Reader(TupleSort.Cursor cursor) {
            this.cursor = cursor;
        }

        /** Returns the container of the next reference; {@link Long#MAX_VALUE} if there is none. */
        long nextContainer() throws IOException {
            if (!isAhead) {
                hasMore = cursor.next();
                isAhead = true;
            }
            return hasMore ? ChunkId.container(cursor.get(0)) : Long.MAX_VALUE;
        }

        /** Moves to the next reference if it is to that container; otherwise returns false. */
        boolean nextIn(long container) throws IOException {
            if (nextContainer() != container) {
                return false;
            }
            isAhead = false;
            return true;
        }

        int slot() {
            return ChunkId.slot(cursor.get(0));
        }

        int prefix() {
            return (int) (cursor.get(1) >> Integer.SIZE);
        }

        int chunkOffset() {
            return (int) cursor.get(1);
        }

        int length() {
            return (int) cursor.get(2);
        }

        long inode() {
            return cursor.get(3);
        }

        long fileOffset() {
            return cursor.get(4);
        }
    }

    @Override
    public void close() throws IOException {
        sort.close();
    }
}
