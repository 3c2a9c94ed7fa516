package org.opendedup.sar.metadata.db;

import static org.opendedup.sar.metadata.db.RocksDbErrors.translate;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;

/**
 * A cursor of a {@link RocksDbKeyValueStore}. Uses the database only during {@link #next}, so that nobody waits for
 * whoever holds a cursor. If the database is reopened meanwhile, goes on behind its key, and sees what was committed
 * since.
 */
final class RocksCursor implements Cursor {
    /**
     * Bytes of a recipe that a disk reads at once. A reader follows the recipe while it reads the file: with single
     * blocks, the disk would seek to the database and back for each. RocksDB reads nothing after the last key.
     */
    private static final int RECIPE_BYTES = 256 << 10;

    private final Path folder;
    private final Access access;
    private final Family family;
    private final byte[] from;
    private final Slice end;
    private final ReadOptions options;
    /** Null while the database has been closed since {@link #open}; guarded by the access. */
    private @Nullable RocksIterator iterator;
    /** Of the present entry; null ahead of the first one. */
    private byte @Nullable [] key;
    /** Null unless the cursor is at an entry. */
    private byte @Nullable [] value;

    private boolean ended;
    private boolean closed;

    /** Access to the database. */
    interface Access {
        /** Returns the database, which stays open until {@link #leave}. */
        OpenDatabase enter() throws IOException;

        void leave();

        /** Calls {@link RocksCursor#release} while the database stays as it is, and never again. */
        void close(RocksCursor cursor);
    }

    RocksCursor(Path folder, Access access, Family family, byte[] from, byte[] to) {
        this.folder = folder;
        this.access = access;
        this.family = family;
        this.from = from;
        end = new Slice(to);
        options = new ReadOptions()
                .setIterateUpperBound(end)
                .setReadaheadSize(family == Family.RECIPE ? RECIPE_BYTES : 0);
    }

    /** Begins to read a database. The caller keeps it open meanwhile. */
    RocksIterator open(OpenDatabase database) {
        RocksIterator opened = database.database().newIterator(database.handle(family), options);
        iterator = opened;
        return opened;
    }

    /** Called before the database is closed. */
    void release() {
        if (iterator != null) {
            iterator.close();
            iterator = null;
        }
    }

    @Override
    public boolean next() throws IOException {
        OpenDatabase database = access.enter();
        try {
            value = null;
            RocksIterator at = ended ? null : moved(database);
            if (at == null || !at.isValid()) {
                ended = true;
                if (at != null) {
                    at.status();
                }
                return false;
            }
            key = at.key();
            value = at.value();
            return true;
        } catch (RocksDBException e) {
            throw translate(folder, e);
        } finally {
            access.leave();
        }
    }

    private RocksIterator moved(OpenDatabase database) {
        RocksIterator at = iterator;
        if (at != null && key != null) {
            at.next();
            return at;
        }
        at = at == null ? open(database) : at;
        at.seek(key == null ? from : key);
        if (key != null && at.isValid() && Arrays.equals(at.key(), key)) {
            at.next();
        }
        return at;
    }

    @Override
    public byte[] key() {
        return atEntry(key);
    }

    @Override
    public byte[] value() {
        return atEntry(value);
    }

    private byte[] atEntry(byte @Nullable [] part) {
        if (part == null || value == null) {
            throw new NoSuchElementException("the cursor is not at an entry");
        }
        return part;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            access.close(this);
            options.close();
            end.close();
        }
    }
}
