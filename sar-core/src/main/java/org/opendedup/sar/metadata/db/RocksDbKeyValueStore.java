package org.opendedup.sar.metadata.db;

import static org.opendedup.sar.metadata.db.RocksDbErrors.place;
import static org.opendedup.sar.metadata.db.RocksDbErrors.translate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.FileDevice;
import org.opendedup.sar.io.PrivateFiles;
import org.rocksdb.Checkpoint;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/** A RocksDB database with one column family for each {@link KeyValueStore.Family}. */
final class RocksDbKeyValueStore implements KeyValueStore {
    /** Bytes that a reopening writes in addition to the log's content: manifest, options. */
    private static final long REOPENING_BYTES = 4 << 20;

    /**
     * Name of a file that is created to test whether the disk accepts writes. RocksDB ignores other programs' files.
     */
    private static final String TRIAL_NAME = "trial";

    private static final int TRIAL_BYTES = 4096;

    /** Minimum interval between attempts to open an unreadable database for reading, in nanoseconds. */
    private static final long LOOK_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);

    /** Opens the database again. */
    interface Recovery {
        OpenDatabase recover() throws IOException;
    }

    private final Path folder;
    private final AcknowledgedSequence acknowledged;
    /** Opens the database for use. Tests replace it. */
    Recovery recovery;
    /** Opens the database for reading only, while the disk accepts no writes. Tests replace it. */
    Recovery look;

    /**
     * Held shared by every call, exclusively while the database is closed or reopened: native memory must not be
     * accessed once it is freed.
     */
    private final ReentrantReadWriteLock lifetime = new ReentrantReadWriteLock();

    /** Cursors in use. Before the database is closed, they give their native memory back. */
    private final Set<RocksCursor> cursors = ConcurrentHashMap.newKeySet();

    private final RocksCursor.Access access = new RocksCursor.Access() {
        @Override
        public OpenDatabase enter() throws IOException {
            return RocksDbKeyValueStore.this.enter();
        }

        @Override
        public void leave() {
            RocksDbKeyValueStore.this.leave();
        }

        @Override
        public void close(RocksCursor cursor) {
            lifetime.readLock().lock();
            try {
                cursors.remove(cursor);
                cursor.release();
            } finally {
                leave();
            }
        }
    };

    /** Null after closing, or while it cannot be reopened. */
    private @Nullable OpenDatabase open;

    private boolean closed;

    /**
     * Time of the last attempt to open the database for reading, as {@link System#nanoTime}; guarded by the lifetime
     * lock, exclusively.
     */
    private long lookedNs;

    /** The reason why the database could not be reopened, if the disk was full: the reopening is then tried again. */
    private @Nullable NoSpaceException shortage;

    /**
     * Set when a write failed. RocksDB then refuses further writes until it detects free space itself. But a partly
     * written record may then be in its log ahead of the records that follow. So nothing is written until a reopening
     * has begun a new log.
     */
    private volatile boolean failed;

    /**
     * Held by a writing thread, so that no other thread writes between a failure and the reopening. Acquired before
     * {@link #lifetime}.
     */
    private final ReentrantLock writing = new ReentrantLock();

    /** Guarded by {@link #writing}. */
    private final DeletionMarks marks = new DeletionMarks();

    /** Whether it is open for reading only, and nothing in its folder may change. */
    private final boolean isLook;

    private RocksDbKeyValueStore(
            Path folder, long memoryBytes, AcknowledgedSequence acknowledged, OpenDatabase open, boolean isLook) {
        this.folder = folder;
        this.isLook = isLook;
        this.acknowledged = acknowledged;
        recovery = () -> OpenDatabase.recover(folder, memoryBytes, acknowledged);
        look = () -> OpenDatabase.look(folder, memoryBytes, acknowledged);
        this.open = open;
    }

    static RocksDbKeyValueStore open(Path folder, long memoryBytes, boolean create) throws IOException {
        boolean exists = Files.exists(folder.resolve("CURRENT"));
        if (create && exists) {
            throw new IOException("there is a metadata database in " + folder + " already");
        }
        if (!create && !exists) {
            throw RocksDbErrors.missing(folder);
        }
        if (create) {
            PrivateFiles.createFolders(folder);
        }
        AcknowledgedSequence acknowledged = AcknowledgedSequence.open(folder, create);
        try {
            OpenDatabase opened = create
                    ? OpenDatabase.create(folder, memoryBytes)
                    : OpenDatabase.recover(folder, memoryBytes, acknowledged);
            return new RocksDbKeyValueStore(folder, memoryBytes, acknowledged, opened, false);
        } catch (IOException | RuntimeException e) {
            acknowledged.close();
            throw e;
        }
    }

    /** Opens a database for reading, and changes nothing in it. */
    static RocksDbKeyValueStore look(Path folder, long memoryBytes) throws IOException {
        if (!Files.exists(folder.resolve("CURRENT"))) {
            throw RocksDbErrors.missing(folder);
        }
        AcknowledgedSequence acknowledged = AcknowledgedSequence.open(folder, false);
        try {
            OpenDatabase opened = OpenDatabase.look(folder, memoryBytes, acknowledged);
            RocksDbKeyValueStore store = new RocksDbKeyValueStore(folder, memoryBytes, acknowledged, opened, true);
            store.recovery = () -> {
                throw new IOException(place(folder) + " is open for reading only");
            };
            return store;
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
        try {
            RocksCursor cursor = new RocksCursor(folder, access, family, from, to);
            cursor.open(entered);
            cursors.add(cursor);
            return cursor;
        } finally {
            leave();
        }
    }

    @Override
    public Batch batch() throws IOException {
        if (isLook) {
            throw new IOException(place(folder) + " is open for reading only");
        }
        // The batch needs an open database, which an earlier reopening may have closed and failed to open.
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

    /** Closes the database, after waiting for calls in progress. */
    @Override
    public void close() throws IOException {
        lifetime.writeLock().lock();
        try {
            closed = true;
            if (open != null) {
                closeDatabase(open);
                if (!failed && !isLook) {
                    SyncedManifest.record(folder);
                }
            }
            acknowledged.close();
        } finally {
            lifetime.writeLock().unlock();
        }
    }

    /**
     * Makes a database writable again after a failed write. Only a reopening does that, and a reopening writes. So it
     * is not tried while the disk has too little space for it, or accepts no writes; reads continue then. If it fails
     * nevertheless, the database is opened for reading. A log whose sync failed is not synced again: RocksDB replays
     * the log as it reads it, and writes its changes to a new table.
     */
    void reopen() throws IOException {
        lifetime.writeLock().lock();
        try {
            if (closed) {
                throw closedException();
            }
            failed = true;
            requireRoomToReopen();
            requireDiskTakesWrites();
            if (open != null) {
                closeDatabase(open);
            }
            shortage = null;
            try {
                open = recovery.recover();
            } catch (IOException e) {
                if (Device.isFull(e)) {
                    shortage = lackingSpace(e);
                    throw shortage;
                }
                openForReading(e);
                throw e instanceof CorruptionException ? e : writeFailed(e);
            }
            failed = false;
        } finally {
            lifetime.writeLock().unlock();
        }
    }

    /** The caller holds the lifetime lock exclusively. */
    private void closeDatabase(OpenDatabase opened) {
        cursors.forEach(RocksCursor::release);
        opened.close();
        open = null;
    }

    @Override
    public long logBytes() throws IOException {
        return CompactionSpace.bytes(folder, "*.log");
    }

    @Override
    public long changes() throws IOException {
        OpenDatabase entered = enter();
        try {
            return entered.lastSequence();
        } finally {
            leave();
        }
    }

    @Override
    public boolean checkpoint(Path target) throws IOException {
        OpenDatabase entered = enter();
        try (Checkpoint checkpoint = Checkpoint.create(entered.database())) {
            checkpoint.createCheckpoint(target.toString());
            return true;
        } catch (RocksDBException e) {
            throw translate(folder, e);
        } finally {
            leave();
        }
    }

    private void requireRoomToReopen() throws IOException {
        long needed = bytesToReopen();
        long usable = FileDevice.of(folder).usableBytes();
        if (usable < needed) {
            throw new NoSpaceException(place(folder) + ": earlier writes failed, and continuing needs " + needed
                    + " free bytes on the disk; there are " + usable);
        }
    }

    /**
     * Writes a small file as a test, before the database is closed for the reopening: while it is closed it cannot be
     * read.
     */
    private void requireDiskTakesWrites() throws IOException {
        Path trial = folder.resolve(TRIAL_NAME);
        try {
            PrivateFiles.write(trial, new byte[TRIAL_BYTES]);
            Files.delete(trial);
        } catch (IOException e) {
            throw Device.isFull(e) ? lackingSpace(e) : writeFailed(e);
        }
    }

    private WriteFailedException writeFailed(IOException cause) {
        return new WriteFailedException(
                place(folder) + ": earlier writes failed, and writes still fail: " + cause.getMessage(), cause);
    }

    /**
     * Opens the database for reading; leaves it closed if its disk cannot even be read. The caller holds the lifetime
     * lock exclusively, and no database is open.
     */
    private void openForReading(IOException cause) {
        lookedNs = System.nanoTime();
        try {
            open = look.recover();
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    /** Tries again to open a database for reading that could not be read when it was reopened. */
    private void lookAgain() {
        lifetime.writeLock().lock();
        try {
            if (open == null && !closed && System.nanoTime() - lookedNs >= LOOK_INTERVAL_NS) {
                openForReading(new IOException());
            }
        } finally {
            lifetime.writeLock().unlock();
        }
    }

    private long bytesToReopen() throws IOException {
        return REOPENING_BYTES + logBytes();
    }

    private boolean hasRoomToReopen() {
        try {
            return FileDevice.of(folder).usableBytes() >= bytesToReopen();
        } catch (IOException e) {
            return false; // unknown
        }
    }

    private NoSpaceException lackingSpace(IOException cause) {
        NoSpaceException lacking = new NoSpaceException(place(folder)
                + " is closed until there is more space; there was too little to reopen it: " + cause.getMessage());
        lacking.initCause(cause);
        return lacking;
    }

    /** Acquires the lifetime lock shared and returns the database. Must be followed by {@link #leave}. */
    private OpenDatabase enter() throws IOException {
        lifetime.readLock().lock();
        if (open == null && !closed) {
            // A write may never occur, because a caller that changes something reads first.
            boolean isShort = shortage != null;
            lifetime.readLock().unlock();
            if (isShort) {
                reopenIfFailed();
            } else {
                lookAgain();
            }
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

    private final class RocksBatch implements Batch {
        private final WriteBatch batch = new WriteBatch();
        private final Map<Family, Integer> deletions = new EnumMap<>(Family.class);

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
                deletions.merge(family, 1, Integer::sum);
            } catch (RocksDBException e) {
                throw translate(folder, e);
            } finally {
                leave();
            }
        }

        @Override
        public void commit() throws IOException {
            commit(true);
        }

        @Override
        public void commitLater() throws IOException {
            commit(false);
        }

        private void commit(boolean isSynced) throws IOException {
            writing.lock();
            try {
                if (failed) {
                    reopen();
                }
                write(isSynced);
            } finally {
                writing.unlock();
            }
        }

        private void write(boolean isSynced) throws IOException {
            OpenDatabase entered = enter();
            try {
                entered.database().write(isSynced ? entered.synced() : entered.later(), batch);
                if (isSynced) {
                    // The batch's last sequence number, or a later one that another thread has synced in the meantime.
                    acknowledged.raise(entered.lastSequence());
                }
                entered.space().refresh();
                marks.count(deletions);
                marks.writeOutMany(entered, RocksDbKeyValueStore.this::hasRoomToReopen);
            } catch (RocksDBException e) {
                failed = true;
                IOException failure = translate(folder, e);
                throw failure instanceof NoSpaceException || failure instanceof CorruptionException
                        ? failure
                        : new WriteFailedException(String.valueOf(failure.getMessage()), failure);
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
