package org.opendedup.sar.ssd;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads the Map table from its database, and keeps the database in step with the table. A database that fails costs
 * only a warm start, and is rebuilt from the table. Used by the writing thread, except {@link #noteForgotten}.
 */
final class MapKeeper implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(MapKeeper.class);

    /** Removals that may wait for the writing thread: 512 KiB. If there are more, table and database are compared. */
    private static final int REMOVALS = 1 << 16;

    private static final int BATCH = 4096;
    /**
     * Time limit of a rebuild, in nanoseconds, because a mount waits for it: some GB of an SSD's segments. Entries not
     * found by then cost a warm start.
     */
    private static final long MAX_REBUILD_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Path folder;
    private final MapTable table;
    private @Nullable MapDatabase database;
    /** Bytes that databases wrote which were closed since. Used by the writing thread only. */
    private long writtenBefore;

    private final Object removalLock = new Object();
    /** Guarded by removalLock, as are the next two. */
    private long[] removals = new long[REMOVALS];

    private int removalCount;
    private boolean removalsLost;

    /**
     * The second array of removals, and (next) whether the database differs from the table. Used by the writing thread
     * only.
     */
    private long[] taken = new long[REMOVALS];

    private boolean incomplete;

    MapKeeper(Path folder, MapTable table) {
        this.folder = folder;
        this.table = table;
    }

    /**
     * Fills the table: from the database, or from the records themselves if the database is missing or damaged.
     *
     * @param isPossible whether a record may be at an entry's place, and there is room for the entry
     * @throws IOException if the SSD fails; its contents are left unchanged
     */
    void load(Segments segments, Predicate<MapEntry> isPossible) throws IOException {
        boolean isMissing = !Files.exists(folder.resolve("CURRENT"));
        try {
            openAndFill(isPossible);
        } catch (CorruptionException e) {
            log.warn("the Map table's database is rebuilt: {}", e.getMessage());
            makeAnew();
            isMissing = true;
        }
        if (isMissing && segments.count() > 0) {
            rebuild(segments, isPossible);
        }
    }

    private void openAndFill(Predicate<MapEntry> isPossible) throws IOException {
        try {
            MapDatabase opened = MapDatabase.open(folder);
            database = opened;
            fill(opened, isPossible);
        } catch (IOException e) {
            if (database != null || takesWrites(e)) {
                throw e;
            }
            // No warning: the first failed write gives one. A commit opens it for writing once that is possible.
            log.info("{}; it is opened for reading only", e.getMessage());
            try (MapDatabase readOnly = MapDatabase.openReadOnly(folder)) {
                fill(readOnly, isPossible);
            }
        }
    }

    private boolean takesWrites(IOException failure) {
        return !(failure instanceof NoSpaceException) && Files.isWritable(folder);
    }

    private void fill(MapDatabase from, Predicate<MapEntry> isPossible) throws IOException {
        from.forEach(entry -> {
            if (isPossible.test(entry)) {
                table.put(entry);
            } else {
                noteForgotten(entry.chunkId);
            }
        });
    }

    private void makeAnew() {
        closeDatabase();
        try {
            MapDatabase.destroy(folder);
            database = MapDatabase.open(folder);
        } catch (IOException e) {
            log.warn("the Map table has no database: {}", e.getMessage());
        }
    }

    private void rebuild(Segments segments, Predicate<MapEntry> isPossible) {
        SegmentScanner scanner = new SegmentScanner();
        long start = System.nanoTime();
        for (int number = 0; number < PackedEntry.SEGMENTS && System.nanoTime() - start < MAX_REBUILD_NANOS; number++) {
            SegmentFile segment = segments.get(number);
            if (segment != null) {
                try {
                    scanner.scan(segment, entry -> {
                        if (isPossible.test(entry) && !table.contains(entry.chunkId)) {
                            table.put(entry);
                        }
                    });
                } catch (IOException e) {
                    log.warn("segment {} can't be read: {}", number, e.getMessage());
                }
            }
        }
        incomplete = true;
        log.info("{} entries of the Map table were found in the segments", table.size());
    }

    /** Notes that a chunk left the table; the next commit removes it from the database. Never waits. */
    void noteForgotten(long chunkId) {
        synchronized (removalLock) {
            if (removalCount == removals.length) {
                removalsLost = true;
            } else {
                removals[removalCount++] = chunkId;
            }
        }
    }

    /** Notes that an entry was added to the table, or moved. */
    void put(MapEntry entry) throws IOException {
        MapDatabase open = database;
        if (open != null) {
            open.put(entry);
        }
    }

    /**
     * Writes the changes to the database. Opens again a database that failed earlier or was read-only; rebuilds a
     * damaged one from the table.
     *
     * @throws IOException if the SSD fails the write; a later commit writes the changes
     */
    void commit() throws IOException {
        try {
            commitOnce();
        } catch (CorruptionException e) {
            log.warn("the Map table's database is rebuilt: {}", e.getMessage());
            MapDatabase.destroy(folder);
            commitOnce();
        }
    }

    private void commitOnce() throws IOException {
        MapDatabase open = database;
        if (open == null) {
            open = MapDatabase.open(folder);
            database = open;
            incomplete = true;
        }
        try {
            if (takeRemovals(open) | incomplete) {
                rewrite(open);
                incomplete = false;
            }
            open.commit();
        } catch (IOException e) {
            // RocksDB refuses all writes after one has failed; only reopening helps.
            closeDatabase();
            throw e;
        }
    }

    /** Adds the removals to the database's batch; returns true if some were lost. */
    private boolean takeRemovals(MapDatabase open) throws IOException {
        int count;
        boolean lost;
        synchronized (removalLock) {
            long[] full = removals;
            removals = taken;
            taken = full;
            count = removalCount;
            removalCount = 0;
            lost = removalsLost;
            removalsLost = false;
        }
        for (int i = 0; i < count; i++) {
            // It may have been added again meanwhile.
            if (!table.contains(taken[i])) {
                open.remove(taken[i]);
            }
        }
        return lost;
    }

    private void rewrite(MapDatabase open) throws IOException {
        open.retain(table::contains);
        open.commit();
        EntryWriter writer = new EntryWriter(open);
        table.forEach(writer::write);
        if (writer.failure != null) {
            throw writer.failure;
        }
    }

    /** Writes entries in batches; stops at the first failure. */
    private static final class EntryWriter {
        private final MapDatabase database;
        private @Nullable IOException failure;

        EntryWriter(MapDatabase database) {
            this.database = database;
        }

        void write(MapEntry entry) {
            if (failure != null) {
                return;
            }
            try {
                database.put(entry);
                if (database.pending() >= BATCH) {
                    database.commit();
                }
            } catch (IOException e) {
                failure = e;
            }
        }
    }

    /** Returns the bytes that the database has written since this was made, in all its openings. */
    long writtenBytes() {
        return writtenBefore + (database == null ? 0 : database.writtenBytes());
    }

    /** Returns the bytes of the database's files. */
    long bytes() throws IOException {
        return MapDatabase.bytes(folder);
    }

    private void closeDatabase() {
        if (database != null) {
            writtenBefore += database.writtenBytes();
            database.close();
            database = null;
        }
    }

    @Override
    public void close() {
        closeDatabase();
    }
}
