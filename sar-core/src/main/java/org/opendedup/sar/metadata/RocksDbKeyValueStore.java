package org.opendedup.sar.metadata;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.NoSuchElementException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.SystemError;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;

/** A RocksDB with one column family for each {@link KeyValueStore.Family}. */
final class RocksDbKeyValueStore implements KeyValueStore {
    /** What a reopening writes besides the log's content: manifest, options. */
    private static final long REOPENING_BYTES = 4 << 20;

    /** How the database is opened again. */
    interface Recovery {
        OpenDatabase recover() throws IOException;
    }

    private final Path folder;
    private final AcknowledgedSequence acknowledged;
    /** A test replaces it. */
    Recovery recovery;

    /**
     * Held shared by every call and open cursor, exclusively while the database is closed or reopened: native memory must
     * not be touched once it is freed.
     */
    private final ReentrantReadWriteLock lifetime = new ReentrantReadWriteLock();

    /** Null once it is closed, or while it can't be reopened. */
    private @Nullable OpenDatabase open;

    private boolean closed;

    /** Why the database could not be reopened, if the disk was full: it is tried again then. */
    private @Nullable NoSpaceException shortage;

    /**
     * Set when a write failed. RocksDB then refuses further ones, until it notices space by itself; but a record that was cut off by
     * then may lie in its log before those that follow. So nothing is written before a reopening has begun a new log.
     */
    private volatile boolean failed;

    /** Held by who writes, so that nobody does between a failure and the reopening. Taken before {@link #lifetime}. */
    private final ReentrantLock writing = new ReentrantLock();

    private RocksDbKeyValueStore(Path folder, long memoryBytes, AcknowledgedSequence acknowledged, OpenDatabase open) {
        this.folder = folder;
        this.acknowledged = acknowledged;
        recovery = () -> OpenDatabase.recover(folder, memoryBytes, acknowledged);
        this.open = open;
    }

    static RocksDbKeyValueStore open(Path folder, long memoryBytes, boolean create) throws IOException {
        boolean exists = Files.exists(folder.resolve("CURRENT"));
        if (create && exists) {
            throw new IOException("there is a metadata database in " + folder + " already");
        }
        if (!create && !exists) {
            throw new CorruptionException(
                    place(folder), -1, "a database", "none; is the disk mounted that it lies on?");
        }
        if (create) {
            PrivateFiles.createFolders(folder);
        }
        AcknowledgedSequence acknowledged = AcknowledgedSequence.open(folder, create);
        try {
            OpenDatabase opened = create
                    ? OpenDatabase.create(folder, memoryBytes)
                    : OpenDatabase.recover(folder, memoryBytes, acknowledged);
            return new RocksDbKeyValueStore(folder, memoryBytes, acknowledged, opened);
        } catch (IOException | RuntimeException e) {
            acknowledged.close();
            throw e;
        }
    }

    @Override
    public byte @Nullable [] get(Family family, byte[] key) throws IOException {
        OpenDatabase entered = enter();
        try {
            return entered.database().get(entered.handle(family), key);
        } catch (RocksDBException e) {
            throw translate(folder, e);
        } finally {
            leave();
        }
    }

    @Override
    public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        OpenDatabase entered = enter();
        return new RocksCursor(entered.database(), entered.handle(family), from, to);
    }

    @Override
    public Batch batch() throws IOException {
        // What it belongs to, should an earlier reopening have closed the database and got no further.
        reopenIfFailed();
        return new RocksBatch();
    }

    private void reopenIfFailed() throws IOException {
        writing.lock();
        try {
            if (failed) {
                reopen();
            }
        } finally {
            writing.unlock();
        }
    }

    /** Waits for calls and cursors that are under way. */
    @Override
    public void close() throws IOException {
        lifetime.writeLock().lock();
        try {
            closed = true;
            if (open != null) {
                open.close();
                open = null;
            }
            acknowledged.close();
        } finally {
            lifetime.writeLock().unlock();
        }
    }

    /**
     * Makes a database writable again after a failed write. Only a reopening does that, and it writes; so it is not tried
     * while the disk is too full for it, and reads go on.
     */
    void reopen() throws IOException {
        if (lifetime.getReadHoldCount() > 0) {
            throw new IllegalStateException("a thread that holds a cursor can't commit after a failed commit");
        }
        lifetime.writeLock().lock();
        try {
            if (closed) {
                throw closedException();
            }
            requireRoomToReopen();
            failed = true;
            if (open != null) {
                open.close();
                open = null;
            }
            shortage = null;
            try {
                open = recovery.recover();
            } catch (IOException e) {
                if (Device.isFull(e)) {
                    shortage = lackingSpace(e);
                    throw shortage;
                }
                throw e;
            }
            failed = false;
        } finally {
            lifetime.writeLock().unlock();
        }
    }

    @Override
    public long logBytes() throws IOException {
        long bytes = 0;
        try (DirectoryStream<Path> logs = Files.newDirectoryStream(folder, "*.log")) {
            for (Path log : logs) {
                bytes += size(log);
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return bytes;
    }

    private static long size(Path log) throws IOException {
        try {
            return Files.size(log);
        } catch (NoSuchFileException e) {
            // Its content is in tables by now.
            return 0;
        }
    }

    private void requireRoomToReopen() throws IOException {
        long needed = REOPENING_BYTES + logBytes();
        long usable = Device.of(folder).usableBytes();
        if (usable < needed) {
            throw new NoSpaceException(place(folder) + ": writes failed before, and going on needs " + needed
                    + " free bytes on the disk; there are " + usable);
        }
    }

    private NoSpaceException lackingSpace(IOException cause) {
        NoSpaceException lacking = new NoSpaceException(place(folder)
                + " is closed until there is space, of which its reopening found too little: " + cause.getMessage());
        lacking.initCause(cause);
        return lacking;
    }

    /** To be followed by {@link #leave}. */
    private OpenDatabase enter() throws IOException {
        lifetime.readLock().lock();
        if (open == null && shortage != null && !closed) {
            // Nobody may come to write, as who changes something reads first.
            lifetime.readLock().unlock();
            reopenIfFailed();
            lifetime.readLock().lock();
        }
        OpenDatabase now = open;
        if (now == null) {
            lifetime.readLock().unlock();
            throw closedException();
        }
        return now;
    }

    private void leave() {
        lifetime.readLock().unlock();
    }

    private IOException closedException() {
        return new IOException(place(folder) + (closed ? " is closed" : " could not be reopened after a failed write"));
    }

    static String place(Path folder) {
        return "metadata database in " + folder;
    }

    static IOException translate(Path folder, RocksDBException e) {
        return translate(folder, String.valueOf(e.getMessage()), e);
    }

    static IOException translate(Path folder, @Nullable String message, RocksDBException e) {
        Status status = e.getStatus();
        // What fails while it opens a database is told by the message alone.
        boolean noSpace =
                status != null && status.getSubCode() == Status.SubCode.NoSpace || SystemError.isFullIn(message);
        if (noSpace) {
            return withCause(new NoSpaceException(place(folder) + ": the disk is full (" + message + ")"), e);
        }
        if (status != null && status.getCode() == Status.Code.Corruption) {
            return withCause(
                    new CorruptionException(
                            place(folder),
                            -1,
                            "an intact database",
                            message + "; check the disk, and restore the folder from its last backup"),
                    e);
        }
        return new IOException(place(folder) + ": " + message, e);
    }

    private static IOException withCause(IOException exception, Throwable cause) {
        exception.initCause(cause);
        return exception;
    }

    /** Belongs to the thread that made it, which must close it: it holds the lifetime lock. */
    private final class RocksCursor implements Cursor {
        private final byte[] from;
        private final Slice end;
        private final ReadOptions options;
        private final RocksIterator iterator;
        private boolean started;
        private boolean finished;

        RocksCursor(RocksDB database, ColumnFamilyHandle family, byte[] from, byte[] to) {
            this.from = from;
            end = new Slice(to);
            options = new ReadOptions().setIterateUpperBound(end);
            iterator = database.newIterator(family, options);
        }

        @Override
        public boolean next() throws IOException {
            if (!started) {
                started = true;
                iterator.seek(from);
            } else if (iterator.isValid()) {
                iterator.next();
            }
            if (iterator.isValid()) {
                return true;
            }
            try {
                iterator.status();
            } catch (RocksDBException e) {
                throw translate(folder, e);
            }
            return false;
        }

        @Override
        public byte[] key() {
            requireEntry();
            return iterator.key();
        }

        @Override
        public byte[] value() {
            requireEntry();
            return iterator.value();
        }

        @Override
        public void close() {
            if (!finished) {
                finished = true;
                iterator.close();
                options.close();
                end.close();
                leave();
            }
        }

        private void requireEntry() {
            if (!started || !iterator.isValid()) {
                throw new NoSuchElementException("the cursor stands on no entry");
            }
        }
    }

    private final class RocksBatch implements Batch {
        private final WriteBatch batch = new WriteBatch();

        @Override
        public void put(Family family, byte[] key, byte[] value) throws IOException {
            OpenDatabase entered = enter();
            try {
                batch.put(entered.handle(family), key, value);
            } catch (RocksDBException e) {
                throw translate(folder, e);
            } finally {
                leave();
            }
        }

        @Override
        public void delete(Family family, byte[] key) throws IOException {
            OpenDatabase entered = enter();
            try {
                batch.delete(entered.handle(family), key);
            } catch (RocksDBException e) {
                throw translate(folder, e);
            } finally {
                leave();
            }
        }

        @Override
        public void commit() throws IOException {
            writing.lock();
            try {
                if (failed) {
                    reopen();
                }
                write();
            } finally {
                writing.unlock();
            }
        }

        private void write() throws IOException {
            OpenDatabase entered = enter();
            try {
                entered.database().write(entered.synced(), batch);
                // Its last one, or a later one that another thread has synced meanwhile.
                acknowledged.raise(entered.lastSequence());
            } catch (RocksDBException e) {
                failed = true;
                throw translate(folder, e);
            } finally {
                leave();
            }
        }

        @Override
        public void close() {
            batch.close();
        }
    }
}
