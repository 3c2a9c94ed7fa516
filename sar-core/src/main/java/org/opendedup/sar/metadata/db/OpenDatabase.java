package org.opendedup.sar.metadata.db;

import static org.opendedup.sar.metadata.db.RocksDbErrors.place;
import static org.opendedup.sar.metadata.db.RocksDbErrors.translate;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksObject;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An open database with its native objects.
 *
 * @param synced for writes that are durable when they return
 * @param later for all others
 * @param space limits the space of its compactions
 * @param natives all native objects, in the order of their creation
 */
record OpenDatabase(
        RocksDB database,
        Map<Family, ColumnFamilyHandle> families,
        WriteOptions synced,
        WriteOptions later,
        CompactionSpace space,
        List<RocksObject> natives)
        implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(OpenDatabase.class);

    /**
     * Maximum bytes of logs that a reopening after a crash replays: this takes well below ten seconds on a slow disk.
     */
    private static final long MAX_WAL_BYTES = 64 << 20;

    /**
     * Divisor of a small device's size for the maximum size of the logs: replaying them writes as many bytes again,
     * which must fit.
     */
    private static final int DEVICE_PER_WAL = 32;

    ColumnFamilyHandle handle(Family family) {
        return Objects.requireNonNull(families.get(family));
    }

    @Override
    public void close() {
        closeAll(natives);
    }

    /** The purpose of opening a database. */
    private enum Opening {
        CREATE,
        USE,
        /** Replays the logs up to the first damage, and changes nothing. */
        LOOK
    }

    static OpenDatabase create(Path folder, long memoryBytes) throws IOException {
        return open(folder, memoryBytes, Opening.CREATE, "");
    }

    /**
     * Opens a database. First cuts off the remains of a record that was interrupted by a power cut and never
     * acknowledged.
     *
     * @throws CorruptionException if anything that was acknowledged is damaged or missing; nothing is changed then
     */
    static OpenDatabase recover(Path folder, long memoryBytes, AcknowledgedSequence acknowledged) throws IOException {
        LogTail manifest = intactManifest(folder);
        LogTail logs = logsWithoutGap(folder, manifest);
        if (!manifest.cuts().isEmpty() || !logs.cuts().isEmpty()) {
            cut(folder, memoryBytes, acknowledged, manifest.cuts(), logs.cuts());
        }
        OpenDatabase opened = open(folder, memoryBytes, Opening.USE, logs.damage());
        try {
            acknowledged.requireIn(opened.lastSequence(), place(folder), "its logs end there");
        } catch (CorruptionException e) {
            opened.close();
            throw e;
        }
        acknowledged.raise(opened.lastSequence());
        SyncedManifest.record(folder);
        return opened;
    }

    /** @throws CorruptionException if the manifest has lost synced records */
    private static LogTail intactManifest(Path folder) throws IOException {
        LogTail manifest = LogTail.ofManifest(folder);
        SyncedManifest.requireIn(folder, manifest.intactBytes());
        return manifest;
    }

    /** @throws CorruptionException if changes are neither in the logs nor in the tables, and later ones are */
    private static LogTail logsWithoutGap(Path folder, LogTail manifest) throws IOException {
        LogTail logs = LogTail.ofLogs(folder, manifest);
        if (!logs.gap().isEmpty()) {
            throw new CorruptionException(
                    place(folder),
                    -1,
                    "all changes",
                    "a gap: missing are those of " + logs.gap() + "; the manifest ends too early, or a log is missing; "
                            + RocksDbErrors.REMEDY);
        }
        return logs;
    }

    /**
     * Opens a database for reading, and changes nothing.
     *
     * @throws CorruptionException if not everything that was acknowledged is visible
     * @throws IOException if the manifest ends with a part of a record, which only {@link #recover} cuts off
     */
    static OpenDatabase look(Path folder, long memoryBytes, AcknowledgedSequence acknowledged) throws IOException {
        LogTail manifest = intactManifest(folder);
        LogTail logs = logsWithoutGap(folder, manifest);
        if (!manifest.cuts().isEmpty()) {
            throw new IOException(place(folder) + ": a crash left a part of a record that was never acknowledged ("
                    + manifest.cuts().get(0) + "); mount the volume and unmount it once, which cuts it off, then check"
                    + " it");
        }
        OpenDatabase opened = open(folder, memoryBytes, Opening.LOOK, logs.damage());
        try {
            acknowledged.requireIn(opened.lastSequence(), place(folder), "its logs end there");
            return opened;
        } catch (CorruptionException e) {
            opened.close();
            throw e;
        }
    }

    /**
     * Cuts off the damaged ends. First cuts the manifest, by which RocksDB finds its files, and checks that everything
     * acknowledged is present without the ends; if not, restores the manifest. Then cuts the logs.
     */
    private static void cut(
            Path folder,
            long memoryBytes,
            AcknowledgedSequence acknowledged,
            List<LogTail.Cut> manifest,
            List<LogTail.Cut> logs)
            throws IOException {
        List<LogTail.Cut> all = Stream.concat(manifest.stream(), logs.stream()).toList();
        List<byte[]> rests = new ArrayList<>();
        try {
            for (LogTail.Cut cut : manifest) {
                rests.add(cut.rest());
                cut.apply();
            }
            try (OpenDatabase look = open(folder, memoryBytes, Opening.LOOK, "damaged is " + all)) {
                acknowledged.requireIn(look.lastSequence(), place(folder), "damaged is " + all);
            }
        } catch (IOException e) {
            for (int i = 0; i < rests.size(); i++) {
                manifest.get(i).undo(rests.get(i));
            }
            throw e;
        }
        for (LogTail.Cut cut : logs) {
            cut.apply();
        }
        log.warn("{}: cut off what a crash left of writes that were never acknowledged: {}", folder, all);
    }

    /** Returns the sequence number of the last durable change; it rises by one with each change. */
    long lastSequence() {
        return database.getLatestSequenceNumber();
    }

    /** @param damage known damage, as text for the message; or empty */
    private static OpenDatabase open(Path folder, long memoryBytes, Opening opening, String damage) throws IOException {
        RocksDB.loadLibrary();
        List<RocksObject> natives = new ArrayList<>();
        try {
            return open(folder, memoryBytes, opening, natives);
        } catch (IOException e) {
            closeAll(natives);
            throw e;
        } catch (RocksDBException e) {
            closeAll(natives);
            throw translate(folder, damage.isEmpty() ? e.getMessage() : damage + " (" + e.getMessage() + ")", e);
        }
    }

    private static OpenDatabase open(Path folder, long memoryBytes, Opening opening, List<RocksObject> natives)
            throws RocksDBException, IOException {
        if (opening != Opening.CREATE) {
            requireFamilies(folder);
        }
        CompactionSpace space = new CompactionSpace(folder, natives);
        long deviceBytes = space.deviceBytes();
        DatabaseOptions options = new DatabaseOptions(memoryBytes, deviceBytes, natives);
        DBOptions databaseOptions =
                withRecovery(options.ofDatabase(), opening).setMaxTotalWalSize(maxLogBytes(deviceBytes));
        space.of(databaseOptions);

        List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
        descriptors.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, options.ofFamily()));
        for (Family family : Family.values()) {
            descriptors.add(new ColumnFamilyDescriptor(bytesOf(family), options.of(family)));
        }
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        RocksDB database = opening == Opening.LOOK
                ? RocksDB.openReadOnly(databaseOptions, folder.toString(), descriptors, handles)
                : RocksDB.open(databaseOptions, folder.toString(), descriptors, handles);
        natives.add(database);
        natives.addAll(handles);
        Map<Family, ColumnFamilyHandle> families = new EnumMap<>(Family.class);
        for (Family family : Family.values()) {
            families.put(family, handles.get(1 + families.size()));
        }
        WriteOptions synced = new WriteOptions().setSync(true);
        natives.add(synced);
        WriteOptions later = new WriteOptions();
        natives.add(later);
        return new OpenDatabase(database, families, synced, later, space, natives);
    }

    /**
     * Refuses a database of another format version that has other families. RocksDB would refuse it too, but without
     * naming the version, and only after it has written a new manifest.
     *
     * @throws org.opendedup.sar.common.UnsupportedFormatException if its header has another version
     * @throws CorruptionException if it has the version of this program, but not its families
     */
    private static void requireFamilies(Path folder) throws RocksDBException, IOException {
        Set<String> expected = new TreeSet<>();
        expected.add(new String(RocksDB.DEFAULT_COLUMN_FAMILY, StandardCharsets.US_ASCII));
        for (Family family : Family.values()) {
            expected.add(name(family));
        }
        Set<String> found = new TreeSet<>();
        try (Options options = new Options()) {
            for (byte[] name : RocksDB.listColumnFamilies(options, folder.toString())) {
                found.add(new String(name, StandardCharsets.UTF_8));
            }
        }
        if (!found.equals(expected)) {
            if (found.contains(name(Family.SYSTEM))) {
                requireVersion(folder);
            }
            throw new CorruptionException(
                    place(folder), -1, "the column families " + expected, found + "; " + RocksDbErrors.REMEDY);
        }
    }

    /** Reads the header of a database that may have other families, and refuses any other format version. */
    private static void requireVersion(Path folder) throws RocksDBException, IOException {
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        try (DBOptions options = new DBOptions();
                ColumnFamilyOptions familyOptions = new ColumnFamilyOptions();
                RocksDB database = RocksDB.openReadOnly(
                        options,
                        folder.toString(),
                        List.of(
                                new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, familyOptions),
                                new ColumnFamilyDescriptor(bytesOf(Family.SYSTEM), familyOptions)),
                        handles)) {
            try {
                byte[] header = database.get(handles.get(1), SystemRecords.HEADER);
                if (header != null) {
                    SystemRecords.decodeHeader(header);
                }
            } finally {
                handles.forEach(RocksObject::close);
            }
        }
    }

    private static String name(Family family) {
        return family.name().toLowerCase(Locale.ROOT);
    }

    private static byte[] bytesOf(Family family) {
        return name(family).getBytes(StandardCharsets.US_ASCII);
    }

    private static long maxLogBytes(long deviceBytes) {
        return deviceBytes == 0 ? MAX_WAL_BYTES : Math.min(MAX_WAL_BYTES, deviceBytes / DEVICE_PER_WAL);
    }

    private static DBOptions withRecovery(DBOptions options, Opening opening) {
        return options.setCreateIfMissing(opening == Opening.CREATE)
                .setCreateMissingColumnFamilies(opening == Opening.CREATE)
                .setErrorIfExists(opening == Opening.CREATE)
                .setParanoidChecks(true)
                // LogTail has already cut off the remains of an unacknowledged record after a power cut: any other
                // damage would lose acknowledged commits, so the database is not opened.
                .setWalRecoveryMode(
                        opening == Opening.LOOK
                                ? WALRecoveryMode.PointInTimeRecovery
                                : WALRecoveryMode.AbsoluteConsistency)
                // LogTail assumes that everything after damage in a log belongs to the same log.
                .setRecycleLogFileNum(0);
    }

    private static void closeAll(List<RocksObject> natives) {
        Collections.reverse(natives);
        natives.forEach(RocksObject::close);
        natives.clear();
    }
}
