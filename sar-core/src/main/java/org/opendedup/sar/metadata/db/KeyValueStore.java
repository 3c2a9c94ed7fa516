package org.opendedup.sar.metadata.db;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An ordered map from byte strings to byte strings in a few families, with atomic, durable batches: the database
 * interface that the metadata needs. Keys are ordered as unsigned bytes. Safe for use by many threads.
 */
public interface KeyValueStore extends Closeable {
    /** The families, each with a key space of its own. */
    enum Family {
        SYSTEM,
        INODE,
        ENTRY,
        XATTR,
        RECIPE,
        COUNT,
        ORPHAN,
        CONTAINER,
        INTENT,
        RAW,
        VERSION,
        DEATH
    }

    /**
     * Returns the value of a record; null if there is none. Here and of a cursor,
     * {@link org.opendedup.sar.metadata.record.ValueReader#CHANGED} stands for one that is not what the volume sealed.
     */
    byte @Nullable [] get(Family family, byte[] key) throws IOException;

    /**
     * Returns a cursor over the keys from {@code from} (inclusive) to {@code to} (exclusive), positioned ahead of its
     * first entry.
     */
    Cursor scan(Family family, byte[] from, byte[] to) throws IOException;

    /** Starts an empty batch. */
    Batch batch() throws IOException;

    /**
     * Returns the bytes of committed changes in the log, which the store will write once more to tables that are faster
     * to read.
     */
    default long logBytes() throws IOException {
        return 0;
    }

    /** Returns a number that rises with each committed change, also over openings; 0 if the store counts none. */
    default long changes() throws IOException {
        return 0;
    }

    /** Returns whether other machines open the database from a store that its changes follow into. */
    default boolean isShipped() {
        return false;
    }

    /**
     * Returns when every machine that opens the database from such a store has what was committed before the call.
     *
     * @throws IOException if the store does not take it now; another call goes on
     */
    default void ship() throws IOException {}

    /**
     * A record as it is stored.
     *
     * @param value null: there is no such record
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Stored(byte[] key, byte @Nullable [] value) {}

    /** Returns whether the files of the store are those of an encrypted volume. */
    default boolean isSealed() {
        return false;
    }

    /** Returns a record's bytes in the files of the store, which may be sealed. */
    default Stored stored(Family family, byte[] key) throws IOException {
        return new Stored(key, get(family, key));
    }

    /**
     * Returns the record that these bytes in the files of such a store are; null if it was changed after this volume's
     * key sealed it.
     */
    default @Nullable Stored opened(Family family, Stored record) throws IOException {
        return record;
    }

    /** Told of each step of reading; may wait, or stop it by an exception. */
    @FunctionalInterface
    interface Reading {
        void read(long bytes) throws IOException;
    }

    /**
     * Reads all of the copy elsewhere that another machine would open, if there is one, and puts it there again if
     * something of it is missing or damaged.
     *
     * @return what was missing or damaged, in a sentence each
     */
    default List<String> mendCopy(Reading reading) throws IOException {
        return List.of();
    }

    /**
     * Makes a copy of the store as it is at a moment during the call, in a folder that must not exist; its parent must
     * be on the store's file system. The copy has every batch that was committed before the call, and of a batch that
     * is committed meanwhile all or nothing. The files of the copy share their bytes with the store's as far as
     * possible.
     *
     * @return false if this store has no files
     */
    default boolean checkpoint(Path target) throws IOException {
        return false;
    }

    /**
     * Reads entries in key order, as they were in the store when the cursor was created; what follows after a failed
     * commit was followed by another may be newer. For one thread at a time. Nobody waits for the end of a cursor.
     */
    interface Cursor extends Closeable {
        /** Moves to the next entry; returns false at the end. */
        boolean next() throws IOException;

        byte[] key();

        byte[] value();

        @Override
        void close();
    }

    /** Changes that take effect together. For one thread. */
    interface Batch extends Closeable {
        void put(Family family, byte[] key, byte[] value) throws IOException;

        void delete(Family family, byte[] key) throws IOException;

        /** Applies all changes atomically and returns when they are durable. */
        void commit() throws IOException;

        /**
         * Applies all changes atomically. They are durable when a later {@link #commit} is; a crash before that may
         * lose them.
         */
        default void commitLater() throws IOException {
            commit();
        }

        @Override
        void close();
    }
}
