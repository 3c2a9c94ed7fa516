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
 * Brings the Map table back from its database, and keeps the database in step with it. A database that fails costs a warm start, and is
 * made anew from the table. For the writing thread, but for {@link #noteForgotten}.
 */
final class MapKeeper implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(MapKeeper.class);

    /** Removals that wait for the writing thread: 512 KiB. Where they are more, table and database are compared. */
    private static final int REMOVALS = 1 << 16;

    private static final int BATCH = 4096;
    /** A mount waits for it: what was not found by then costs a warm start. Some GB of an SSD's segments. */
    private static final long MAX_REBUILD_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Path folder;
    private final MapTable table;
    private @Nullable MapDatabase database;

    private final Object removalLock = new Object();
    /** Guarded by removalLock, as are the next two. */
    private long[] removals = new long[REMOVALS];

    private int removalCount;
    private boolean removalsLost;

    /** The other array of removals; and what of the database is not as the table is. For the writing thread. */
    private long[] taken = new long[REMOVALS];

    private boolean incomplete;

    MapKeeper(Path folder, MapTable table) {
        this.folder = folder;
        this.table = table;
    }

    /**
     * Fills the table: from the database, or, where that is missing or damaged, from the records themselves.
     *
     * @param isPossible whether there may be a record at an entry's place, and room for the entry
     * @throws IOException if the SSD fails; what is on it stays as it is
     */
    void load(Segments segments, Predicate<MapEntry> isPossible) throws IOException {
        boolean isMissing = !Files.exists(folder.resolve("CURRENT"));
        try {
            openAndFill(isPossible);
        } catch (CorruptionException e) {
            log.warn("the Map table's database is made anew: {}", e.getMessage());
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
            // No warning: the first write that fails gives one. A commit opens it for writing once that is possible.
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

    /** A chunk left the table: the database learns of it with the next commit. Never waits. */
    void noteForgotten(long chunkId) {
        synchronized (removalLock) {
            if (removalCount == removals.length) {
                removalsLost = true;
            } else {
                removals[removalCount++] = chunkId;
            }
        }
    }

    /** An entry came into the table, or changed its place. */
    void put(MapEntry entry) throws IOException {
        MapDatabase open = database;
        if (open != null) {
            open.put(entry);
        }
    }

    /**
     * Writes what changed. A database that failed before, or could only be read, is opened again; one that is damaged is made anew from
     * the table.
     *
     * @throws IOException if the SSD does not take it; it is made up for by a later commit
     */
    void commit() throws IOException {
        try {
            commitOnce();
        } catch (CorruptionException e) {
            log.warn("the Map table's database is made anew: {}", e.getMessage());
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
            // RocksDB refuses all writes after one has failed; only a reopening helps.
            closeDatabase();
            throw e;
        }
    }

    /** Notes the removals in the database's batch; true if some were lost. */
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
            // It may be back meanwhile.
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

    /** Writes entries in batches; the first failure ends it. */
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

    /** Bytes of the database's files. */
    long bytes() throws IOException {
        return MapDatabase.bytes(folder);
    }

    private void closeDatabase() {
        if (database != null) {
            database.close();
            database = null;
        }
    }

    @Override
    public void close() {
        closeDatabase();
    }
}
