package org.opendedup.sar.metadata.remote;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.record.Keys;

/**
 * A key-value store with files, for tests that open a database hundreds of times: a log, and tables in its checkpoints.
 * It counts changes as RocksDB does. The folder shows what a crash leaves; {@link #cutPower} takes away what was not
 * synced.
 */
final class FolderKeyValueStore implements KeyValueStore {
    private static final String SEQUENCE = "CURRENT";
    private static final String LOG = "000001.log";
    private static final String SYNCED = "synced";
    private static final String TABLE = ".sst";
    /** Most records of a table: so checkpoints share some. */
    private static final int RECORDS = 4;

    private final HeapKeyValueStore heap = new HeapKeyValueStore();
    private final Path folder;
    private final Steps steps;
    private long changes;

    private FolderKeyValueStore(Path folder, Steps steps) {
        this.folder = folder;
        this.steps = steps;
    }

    static Databases databases(Steps steps) {
        return new Databases() {
            @Override
            public KeyValueStore create(Path folder) throws IOException {
                Files.createDirectories(folder);
                Files.writeString(folder.resolve(SEQUENCE), "0");
                return open(folder);
            }

            @Override
            public KeyValueStore open(Path folder) throws IOException {
                FolderKeyValueStore store = new FolderKeyValueStore(folder, steps);
                store.load();
                return store;
            }

            @Override
            public KeyValueStore look(Path folder) throws IOException {
                return open(folder);
            }
        };
    }

    private void load() throws IOException {
        changes = Long.parseLong(Files.readString(folder.resolve(SEQUENCE)));
        long base = changes;
        for (Path file : TestFolders.files(folder)) {
            if (file.toString().endsWith(TABLE)) {
                LoggedBatch.apply(Files.readAllBytes(file), 0, asSource(0), "table");
            }
        }
        changes = base;
        if (Files.exists(folder.resolve(LOG))) {
            try (DataInputStream in = new DataInputStream(Files.newInputStream(folder.resolve(LOG)))) {
                while (in.available() > 0) {
                    byte[] batch = new byte[in.readInt()];
                    in.readFully(batch);
                    changes = LoggedBatch.apply(batch, changes, asSource(changes), "log");
                }
            }
        }
    }

    /** Returns the heap as a store that counts, for loading. */
    private KeyValueStore asSource(long from) {
        FolderKeyValueStore counting = this;
        long[] count = {from};
        return new KeyValueStore() {
            @Override
            public byte @Nullable [] get(Family family, byte[] key) {
                return counting.get(family, key);
            }

            @Override
            public Cursor scan(Family family, byte[] begin, byte[] end) {
                return counting.scan(family, begin, end);
            }

            @Override
            public long changes() {
                return count[0];
            }

            @Override
            public Batch batch() {
                Batch batch = heap.batch();
                return new Batch() {
                    @Override
                    public void put(Family family, byte[] key, byte[] value) throws IOException {
                        batch.put(family, key, value);
                        count[0]++;
                    }

                    @Override
                    public void delete(Family family, byte[] key) throws IOException {
                        batch.delete(family, key);
                        count[0]++;
                    }

                    @Override
                    public void commit() throws IOException {
                        batch.commit();
                    }

                    @Override
                    public void close() {}
                };
            }

            @Override
            public void close() {}
        };
    }

    /** Takes away a random part of what was not synced. The store must not be in use any more. */
    static void cutPower(Path folder, RandomGenerator random) throws IOException {
        Path log = folder.resolve(LOG);
        if (!Files.exists(log)) {
            return;
        }
        Path synced = folder.resolve(SYNCED);
        long least = Files.exists(synced) ? Long.parseLong(Files.readString(synced)) : 0;
        long end = 0;
        try (DataInputStream in = new DataInputStream(Files.newInputStream(log))) {
            while (in.available() > 0 && (end < least || random.nextBoolean())) {
                int bytes = in.readInt();
                in.skipNBytes(bytes);
                end += Integer.BYTES + bytes;
            }
        }
        try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "rw")) {
            file.setLength(end);
        }
    }

    @Override
    public byte @Nullable [] get(Family family, byte[] key) {
        return heap.get(family, key);
    }

    @Override
    public Cursor scan(Family family, byte[] from, byte[] to) {
        return heap.scan(family, from, to);
    }

    @Override
    public synchronized long changes() {
        return changes;
    }

    @Override
    public Batch batch() {
        Batch batch = heap.batch();
        LoggedBatch logged = new LoggedBatch();
        return new Batch() {
            @Override
            public void put(Family family, byte[] key, byte[] value) throws IOException {
                batch.put(family, key, value);
                logged.put(family, key, value);
            }

            @Override
            public void delete(Family family, byte[] key) throws IOException {
                batch.delete(family, key);
                logged.delete(family, key);
            }

            @Override
            public void commit() throws IOException {
                write(batch, logged, true);
            }

            @Override
            public void commitLater() throws IOException {
                write(batch, logged, false);
            }

            @Override
            public void close() {
                batch.close();
            }
        };
    }

    private void write(Batch batch, LoggedBatch logged, boolean isSynced) throws IOException {
        steps.at("commit", () -> {
            synchronized (this) {
                if (logged.count() > 0) {
                    ByteArrayOutputStream out = new ByteArrayOutputStream();
                    byte[] bytes = bytesOf(logged);
                    DataOutputStream data = new DataOutputStream(out);
                    data.writeInt(bytes.length);
                    data.write(bytes);
                    Files.write(
                            folder.resolve(LOG),
                            out.toByteArray(),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.APPEND);
                    batch.commit();
                    changes += logged.count();
                }
                if (isSynced && Files.exists(folder.resolve(LOG))) {
                    Files.writeString(folder.resolve(SYNCED), Long.toString(Files.size(folder.resolve(LOG))));
                }
            }
        });
    }

    @Override
    public synchronized boolean checkpoint(Path target) throws IOException {
        Files.createDirectory(target);
        Files.writeString(target.resolve(SEQUENCE), Long.toString(changes));
        for (Family family : Family.values()) {
            try (Cursor cursor = scan(family, Keys.FIRST, Keys.END)) {
                LoggedBatch table = new LoggedBatch();
                while (cursor.next()) {
                    table.put(family, cursor.key(), cursor.value());
                    if (table.count() == RECORDS) {
                        writeTable(target, table);
                        table = new LoggedBatch();
                    }
                }
                if (table.count() > 0) {
                    writeTable(target, table);
                }
            }
        }
        return true;
    }

    private static void writeTable(Path target, LoggedBatch table) throws IOException {
        byte[] bytes = bytesOf(table);
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        Files.write(target.resolve(String.format(Locale.ROOT, "%010d%s", crc.getValue(), TABLE)), bytes);
    }

    @Override
    public void close() {}

    /** Returns all records of a store as text, for comparisons. */
    static Map<String, String> records(KeyValueStore store) throws IOException {
        Map<String, String> records = new TreeMap<>();
        for (Family family : Family.values()) {
            try (Cursor cursor = store.scan(family, Keys.FIRST, Keys.END)) {
                while (cursor.next()) {
                    records.put(
                            family + " " + new String(cursor.key(), US_ASCII), new String(cursor.value(), US_ASCII));
                }
            }
        }
        return records;
    }

    static byte[] bytesOf(LoggedBatch batch) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        batch.writeTo(out);
        return out.toByteArray();
    }
}
