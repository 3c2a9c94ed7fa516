package org.opendedup.sar.metadata;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.KeyValueStore.Batch;
import org.opendedup.sar.metadata.KeyValueStore.Family;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.RocksObject;
import org.rocksdb.SstFileReader;
import org.rocksdb.SstFileReaderIterator;
import org.rocksdb.WALRecoveryMode;

/**
 * Copies every record of a damaged database that can be read. RocksDB verifies each block, and knows which of several
 * versions of a record counts. Its iterator stops at a damaged block, whichever table has it; then it goes on at the
 * first key after the block ({@link TableSeparators}). Other tables may have records within the gap: each of their keys
 * is looked up, which succeeds if the damaged block is not needed to know the newest version.
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
    private final LostRecords lost = new LostRecords();
    private final Target target;
    private final SalvageProgress progress;
    /** Records that were copied, and about how many there are. */
    private long copied;

    private long records;

    private RecordSalvage(
            Path source,
            RocksDB database,
            Map<Family, ColumnFamilyHandle> families,
            List<RocksObject> natives,
            KeyValueStore target,
            SalvageProgress progress)
            throws IOException {
        this.progress = progress;
        this.source = source;
        this.database = database;
        this.families = families;
        this.natives = natives;
        options = new ReadOptions().setFillCache(false);
        natives.add(options);
        this.target = new Target(target);
    }

    /**
     * Copies the records of a database into an empty one.
     *
     * @param source folder with the files of the damaged database, which no one else uses
     * @throws CorruptionException if the files of the database cannot be told: its manifest is damaged
     */
    static LostRecords copy(Path source, KeyValueStore target, SalvageProgress progress) throws IOException {
        RocksDB.loadLibrary();
        List<RocksObject> natives = new ArrayList<>();
        try (RecordSalvage salvage = open(source, target, natives, progress)) {
            salvage.noteMissingChanges();
            salvage.estimate();
            for (Family family : Family.values()) {
                salvage.copy(family);
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

    private static RecordSalvage open(
            Path source, KeyValueStore target, List<RocksObject> natives, SalvageProgress progress)
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

    private void noteMissingChanges() throws IOException {
        if (Files.exists(source.resolve(AcknowledgedSequence.NAME))) {
            try (AcknowledgedSequence acknowledged = AcknowledgedSequence.open(source, false)) {
                lost.addChanges(Math.max(0, acknowledged.last() - database.getLatestSequenceNumber()));
            }
        }
    }

    private void estimate() throws RocksDBException {
        for (ColumnFamilyHandle handle : families.values()) {
            records += database.getLongProperty(handle, "rocksdb.estimate-num-keys");
        }
    }

    private void copy(Family family) throws IOException {
        ColumnFamilyHandle handle = Objects.requireNonNull(families.get(family));
        List<Path> tables = tables(family);
        @Nullable List<byte[]> separators = null;
        try (RocksIterator records = database.newIterator(handle, options)) {
            records.seekToFirst();
            byte[] last = NOTHING;
            while (true) {
                for (; records.isValid(); records.next()) {
                    last = records.key();
                    target.put(family, last, records.value());
                    progress.at("records of the database", copied++, Math.max(copied, this.records));
                }
                if (isSound(records)) {
                    return;
                }
                if (separators == null) {
                    separators = separators(tables);
                }
                goOnBehind(records, last, separators);
                byte[] next = records.isValid() ? records.key() : Keys.END;
                lost.add(family, last, next);
                lookUpWithin(family, handle, tables, separators, last, next);
                if (!records.isValid()) {
                    return;
                }
            }
        }
    }

    /** Moves to the first record after the damage, or to the end. */
    private static void goOnBehind(RocksIterator records, byte[] last, List<byte[]> separators) {
        for (byte[] separator : separators) {
            if (Arrays.compareUnsigned(separator, last) >= 0) {
                records.seek(behind(separator));
                if (records.isValid()) {
                    return;
                }
            }
        }
    }

    private static byte[] behind(byte[] key) {
        return Arrays.copyOf(key, key.length + 1);
    }

    private static boolean isSound(RocksIterator records) {
        try {
            records.status();
            return true;
        } catch (RocksDBException e) {
            return false;
        }
    }

    private List<Path> tables(Family family) {
        List<Path> tables = new ArrayList<>();
        for (LiveFileMetaData file : database.getLiveFilesMetaData()) {
            if (Arrays.equals(file.columnFamilyName(), name(family))) {
                tables.add(source.resolve(file.fileName().replaceFirst("^/+", "")));
            }
        }
        return tables;
    }

    private static List<byte[]> separators(List<Path> tables) throws IOException {
        TreeSet<byte[]> all = new TreeSet<>((Comparator<byte[]>) Arrays::compareUnsigned);
        for (Path table : tables) {
            if (Files.exists(table)) {
                all.addAll(TableSeparators.of(table));
            }
        }
        return List.copyOf(all);
    }

    /** Copies those records within a gap of which some table has a key, and whose newest version can be read. */
    private void lookUpWithin(
            Family family,
            ColumnFamilyHandle handle,
            List<Path> tables,
            List<byte[]> separators,
            byte[] after,
            byte[] before)
            throws IOException {
        TreeSet<byte[]> keys = new TreeSet<>((Comparator<byte[]>) Arrays::compareUnsigned);
        for (Path table : tables) {
            addKeys(table, separators, after, before, keys);
        }
        for (byte[] key : keys) {
            try {
                byte[] value = database.get(handle, options, key);
                if (value != null) {
                    target.put(family, key, value);
                }
            } catch (RocksDBException e) {
                // Lies in the damaged block, or may have a newer version there.
                continue;
            }
        }
    }

    private static void addKeys(
            Path table, List<byte[]> separators, byte[] after, byte[] before, TreeSet<byte[]> keys) {
        try (Options tableOptions = new Options();
                ReadOptions readOptions = new ReadOptions().setFillCache(false);
                SstFileReader reader = new SstFileReader(tableOptions)) {
            reader.open(table.toString());
            TreeSet<byte[]> own = new TreeSet<>((Comparator<byte[]>) Arrays::compareUnsigned);
            try (SstFileReaderIterator records = reader.newIterator(readOptions)) {
                addKeys(records, behind(after), before, own);
                for (byte[] separator : separators) {
                    if (Arrays.compareUnsigned(separator, after) >= 0
                            && Arrays.compareUnsigned(separator, before) < 0) {
                        addKeys(records, behind(separator), before, own);
                    }
                }
            }
            keys.addAll(own);
        } catch (RocksDBException e) {
            // A table that cannot be opened has no keys.
            return;
        }
    }

    /** Adds the keys from {@code from} on, up to a damaged block or to one that was added before. */
    private static void addKeys(SstFileReaderIterator records, byte[] from, byte[] before, TreeSet<byte[]> keys) {
        for (records.seek(from); records.isValid(); records.next()) {
            byte[] key = records.key();
            if (Arrays.compareUnsigned(key, before) >= 0 || !keys.add(key)) {
                return;
            }
        }
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

        void put(Family family, byte[] key, byte[] value) throws IOException {
            batch.put(family, key, value);
            bytes += key.length + value.length + RECORD_BYTES;
            if (bytes >= BATCH_BYTES) {
                flush();
            }
        }

        void flush() throws IOException {
            batch.commit();
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
