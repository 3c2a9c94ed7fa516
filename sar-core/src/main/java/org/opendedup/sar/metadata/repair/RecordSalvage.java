package org.opendedup.sar.metadata.repair;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.db.AcknowledgedSequence;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.KeyValueStore.Stored;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.db.RocksDbErrors;
import org.opendedup.sar.metadata.record.Keys;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.RocksObject;
import org.rocksdb.WALRecoveryMode;

/**
 * Copies every record of a damaged database that can be read. RocksDB verifies each block, and knows which of several
 * versions of a record counts. Its iterator stops at a damaged block, whichever table has it; then it goes on at the
 * first key after the block ({@link TableKeys}). Other tables may have records within the gap: each of their keys is
 * looked up, which succeeds if the damaged block is not needed to know the newest version.
 *
 * <p>The logs are read up to the first damage, so that the result is a state in which the volume once was.
 */
final class RecordSalvage implements Closeable {
    private static final byte[] NOTHING = {};
    private static final long BATCH_BYTES = 4 << 20;
    /** Bytes of memory for each record in a batch besides its key and value. */
    private static final int RECORD_BYTES = 32;

    private final Path source;
    private final RocksDB database;
    private final Map<Family, ColumnFamilyHandle> families;
    private final List<RocksObject> natives;
    private final ReadOptions options;
    /** Neighbours are looked up one after the other, from one block. */
    private final ReadOptions lookUps;

    private final LostRecords lost = new LostRecords();
    private final Target target;
    private final Progress progress;
    /** Records that were copied, and about how many there are. */
    private long copied;

    private long records;

    private RecordSalvage(
            Path source,
            RocksDB database,
            Map<Family, ColumnFamilyHandle> families,
            List<RocksObject> natives,
            KeyValueStore target,
            Progress progress)
            throws IOException {
        this.progress = progress;
        this.source = source;
        this.database = database;
        this.families = families;
        this.natives = natives;
        options = new ReadOptions().setFillCache(false);
        natives.add(options);
        lookUps = new ReadOptions();
        natives.add(lookUps);
        this.target = new Target(target);
    }

    /** Tells which records make sense, once those that describe the volume are copied. */
    @FunctionalInterface
    interface Description {
        SoundRecords of(LostRecords lost) throws IOException;
    }

    /**
     * Copies the records of a database into an empty one. They are durable with the next commit.
     *
     * @param source folder with the files of the damaged database, which no one else uses
     * @throws CorruptionException if the files of the database cannot be told: its manifest is damaged
     */
    static LostRecords copy(Path source, KeyValueStore target, Description description, Progress progress)
            throws IOException {
        RocksDB.loadLibrary();
        List<RocksObject> natives = new ArrayList<>();
        long lastChange = lastChange(source);
        try (RecordSalvage salvage = open(source, target, natives, progress)) {
            salvage.noteMissingChanges(lastChange);
            salvage.estimate();
            salvage.copy(Family.SYSTEM, null);
            salvage.target.flush();
            SoundRecords sound = description.of(salvage.lost);
            for (Family family : Family.values()) {
                if (family != Family.SYSTEM) {
                    salvage.copy(family, sound);
                }
            }
            salvage.target.flush();
            return salvage.lost;
        } catch (RocksDBException e) {
            close(natives);
            CorruptionException refused = new CorruptionException(
                    RocksDbErrors.place(source),
                    -1,
                    "a manifest that names the tables",
                    e.getMessage() + "; restore the newest backup instead");
            refused.initCause(e);
            throw refused;
        }
    }

    private static RecordSalvage open(Path source, KeyValueStore target, List<RocksObject> natives, Progress progress)
            throws RocksDBException, IOException {
        DBOptions options = new DBOptions()
                .setParanoidChecks(false)
                .setWalRecoveryMode(WALRecoveryMode.PointInTimeRecovery)
                .setMaxOpenFiles(KeyValueStores.MOST_OPEN_FILES);
        natives.add(options);
        ColumnFamilyOptions familyOptions = new ColumnFamilyOptions();
        natives.add(familyOptions);
        List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
        descriptors.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, familyOptions));
        for (Family family : Family.values()) {
            descriptors.add(new ColumnFamilyDescriptor(name(family), familyOptions));
        }
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        RocksDB database = RocksDB.openReadOnly(options, source.toString(), descriptors, handles);
        natives.add(database);
        natives.addAll(handles);
        Map<Family, ColumnFamilyHandle> families = new HashMap<>();
        for (Family family : Family.values()) {
            families.put(family, handles.get(1 + family.ordinal()));
        }
        return new RecordSalvage(source, database, families, natives, target, progress);
    }

    private static byte[] name(Family family) {
        return family.name().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);
    }

    /** Returns the number of the last change that can be read in the logs, and cuts them where one is damaged. */
    private static long lastChange(Path source) throws IOException {
        try {
            return KeyValueStores.cutLogsAtDamage(source);
        } catch (CorruptionException e) {
            throw new CorruptionException(
                    RocksDbErrors.place(source),
                    -1,
                    "logs and tables of one state",
                    e.getMessage() + "; restore the newest backup instead");
        }
    }

    private void noteMissingChanges(long lastChange) throws IOException {
        long last = lastChange;
        if (Files.exists(source.resolve(AcknowledgedSequence.NAME))) {
            try (AcknowledgedSequence acknowledged = AcknowledgedSequence.open(source, false)) {
                last = Math.max(last, acknowledged.last());
            }
        }
        lost.addChanges(Math.max(0, last - database.getLatestSequenceNumber()));
    }

    private void estimate() throws RocksDBException {
        for (ColumnFamilyHandle handle : families.values()) {
            records += database.getLongProperty(handle, "rocksdb.estimate-num-keys");
        }
    }

    private void copy(Family family, @Nullable SoundRecords sound) throws IOException {
        ColumnFamilyHandle handle = Objects.requireNonNull(families.get(family));
        @Nullable TableKeys tables = null;
        try (RocksIterator records = database.newIterator(handle, options)) {
            records.seekToFirst();
            byte[] last = NOTHING;
            while (true) {
                for (; records.isValid(); records.next()) {
                    last = records.key();
                    put(family, last, records.value(), sound);
                }
                if (TableKeys.isSound(records)) {
                    return;
                }
                if (tables == null) {
                    tables = new TableKeys(source, tables(family));
                }
                goOnBehind(records, last, tables);
                byte[] next = records.isValid() ? records.key() : Keys.END;
                lookUpBetween(family, handle, tables, last, next, sound);
                if (!records.isValid()) {
                    return;
                }
            }
        } finally {
            if (tables != null) {
                tables.close();
            }
        }
    }

    /**
     * Copies those records within a gap of which some table has a key, and whose newest version can be read. What no
     * table can be read for counts as lost: a damaged block at the begin of one table ends a merge with all others.
     */
    private void lookUpBetween(
            Family family,
            ColumnFamilyHandle handle,
            TableKeys tables,
            byte[] after,
            byte[] before,
            @Nullable SoundRecords sound)
            throws IOException {
        boolean[] isKnown = new boolean[1];
        tables.forEachBetween(after, before, new TableKeys.Visitor() {
            @Override
            public void key(byte[] key) throws IOException {
                byte[] value = value(handle, key);
                if (value != null) {
                    put(family, key, value, sound);
                }
            }

            @Override
            public void gap(byte[] from, byte[] to) {
                lost.add(family, from, to);
                isKnown[0] = true;
            }
        });
        if (!isKnown[0]) {
            lost.add(family, after, before);
        }
    }

    /** A record that makes no sense, or was changed after it was sealed, counts as lost. */
    private void put(Family family, byte[] key, byte[] value, @Nullable SoundRecords sound) throws IOException {
        progress.at("records of the database", copied++, Math.max(copied, records));
        Stored record = target.opened(family, key, value);
        byte[] opened = record == null ? null : record.value();
        if (record != null && opened != null && (sound == null || sound.isSound(family, record.key(), opened))) {
            target.put(family, record.key(), opened);
        } else {
            lost.addRecord(family, key);
        }
    }

    /** Returns a record within a gap; null if its newest version cannot be read, or may be in the damaged block. */
    private byte @Nullable [] value(ColumnFamilyHandle handle, byte[] key) {
        try {
            return database.get(handle, lookUps, key);
        } catch (RocksDBException e) {
            return null;
        }
    }

    /** Moves to the first record after the damage, or to the end. */
    private static void goOnBehind(RocksIterator records, byte[] last, TableKeys tables) {
        for (byte[] separator : tables.behind(last)) {
            records.seek(TableKeys.following(separator));
            if (records.isValid()) {
                return;
            }
        }
    }

    private List<LiveFileMetaData> tables(Family family) {
        List<LiveFileMetaData> tables = new ArrayList<>();
        for (LiveFileMetaData file : database.getLiveFilesMetaData()) {
            if (Arrays.equals(file.columnFamilyName(), name(family))) {
                tables.add(file);
            }
        }
        return tables;
    }

    @Override
    public void close() {
        target.close();
        close(natives);
    }

    private static void close(List<RocksObject> natives) {
        for (int i = natives.size() - 1; i >= 0; i--) {
            natives.get(i).close();
        }
        natives.clear();
    }

    /** Writes records in batches of bounded size. */
    private static final class Target implements Closeable {
        private final KeyValueStore store;
        private Batch batch;
        private long bytes;

        Target(KeyValueStore store) throws IOException {
            this.store = store;
            batch = store.batch();
        }

        @Nullable
        Stored opened(Family family, byte[] key, byte[] value) throws IOException {
            return store.opened(family, new Stored(key, value));
        }

        void put(Family family, byte[] key, byte[] value) throws IOException {
            batch.put(family, key, value);
            bytes += key.length + value.length + RECORD_BYTES;
            if (bytes >= BATCH_BYTES) {
                flush();
            }
        }

        void flush() throws IOException {
            batch.commitLater();
            batch.close();
            batch = store.batch();
            bytes = 0;
        }

        @Override
        public void close() {
            batch.close();
        }
    }
}
