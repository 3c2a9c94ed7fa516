package org.opendedup.sar.metadata.versions;

import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.record.VersionKeys;
import org.opendedup.sar.metadata.record.VersionKeys.Kind;

/**
 * Reads records as a snapshot has them. Their keys begin with ids of inodes in the snapshot ({@link SnapshotIds}). Only
 * what is in the database is read: all changes up to a snapshot are there before anybody sees the snapshot.
 *
 * <p>The present record is read first. If it was born after the snapshot, or does not exist, then the version that the
 * snapshot has was moved away by an earlier commit, and is found among the versions: so nothing is missed, whatever is
 * committed in between.
 */
public final class SnapshotReads {
    /** Versions of one record that are passed over before a cursor is moved past the rest of them. */
    private static final int MOST_PASSED = 8;

    private final KeyValueStore database;
    private final Snapshots snapshots;

    public SnapshotReads(KeyValueStore database, Snapshots snapshots) {
        this.database = database;
        this.snapshots = snapshots;
    }

    /** Returns a record of a snapshot; null if the snapshot has none. */
    public byte @Nullable [] get(Family family, byte[] key) throws IOException {
        Kind kind = Kinds.of(family);
        if (kind == null || isOfFolder(key)) {
            return null;
        }
        long snapshot = SnapshotIds.snapshot(Keys.longAt(key, 0));
        byte[] plain = SnapshotIds.plainKey(key);
        byte[] present = database.get(family, plain);
        byte[] found = present != null && Births.of(present) <= snapshot ? present : version(kind, plain, snapshot);
        snapshots.requireLiving(snapshot);
        return found;
    }

    /** The folder of the snapshots has no records: a program may ask for its extended attributes. */
    private static boolean isOfFolder(byte[] key) {
        return Keys.longAt(key, 0) == SnapshotIds.FOLDER;
    }

    private byte @Nullable [] version(Kind kind, byte[] plain, long snapshot) throws IOException {
        byte[] from = VersionKeys.version(kind, Arrays.copyOf(plain, kind.numberBytes()), snapshot + 1);
        byte[] to = VersionKeys.version(kind, Arrays.copyOf(plain, kind.numberBytes()), Long.MAX_VALUE);
        try (Cursor versions = database.scan(Family.VERSION, from, to)) {
            while (versions.next()) {
                if (Arrays.equals(VersionKeys.keyOf(kind, versions.key()), plain)) {
                    byte[] value = versions.value();
                    return Births.of(value) <= snapshot ? value : null;
                }
            }
        }
        return null;
    }

    /** Returns a cursor over the records of a snapshot from {@code from} (inclusive) to {@code to} (exclusive). */
    public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        Kind kind = Kinds.of(family);
        if (kind == null || isOfFolder(from)) {
            return new Nothing();
        }
        return new Merged(family, kind, from, to);
    }

    /** A cursor over no records. */
    private static final class Nothing implements Cursor {
        @Override
        public boolean next() {
            return false;
        }

        @Override
        public byte[] key() {
            throw new NoSuchElementException("the cursor is not at an entry");
        }

        @Override
        public byte[] value() {
            throw new NoSuchElementException("the cursor is not at an entry");
        }

        @Override
        public void close() {}
    }

    /** Merges the present records with the versions, for one group of records with the same numbers at a time. */
    private final class Merged implements Cursor {
        private final Kind kind;
        private final long snapshot;
        private final byte[] from;
        private final byte[] to;
        /** The numbers at which the records of the snapshot end; null: where all end. */
        private final byte @Nullable [] end;

        private final Cursor present;
        private Cursor versions;
        private byte @Nullable [] presentKey;
        private byte @Nullable [] versionKey;
        private Iterator<Map.Entry<byte[], byte[]>> group = Collections.emptyIterator();
        private Map.@Nullable Entry<byte[], byte[]> at;

        Merged(Family family, Kind kind, byte[] from, byte[] to) throws IOException {
            this.kind = kind;
            this.from = from;
            this.to = to;
            snapshot = SnapshotIds.snapshot(Keys.longAt(from, 0));
            byte[] plainFrom = SnapshotIds.plainKey(from);
            boolean endsHere = to.length >= Keys.LONG_BYTES && SnapshotIds.snapshot(Keys.longAt(to, 0)) == snapshot;
            byte[] plainTo = endsHere ? SnapshotIds.plainKey(to) : Keys.END;
            end = endsHere ? plainTo : null;
            // The present records first: one that is moved meanwhile is found in both places.
            present = database.scan(family, plainFrom, plainTo);
            versions = versionsFrom(VersionKeys.from(kind, plainFrom));
            presentKey = present.next() ? present.key() : null;
            versionKey = versions.next() ? versions.key() : null;
        }

        private Cursor versionsFrom(byte[] key) throws IOException {
            return database.scan(Family.VERSION, key, VersionKeys.end(kind));
        }

        @Override
        public boolean next() throws IOException {
            do {
                while (!group.hasNext()) {
                    byte[] numbers = nextNumbers();
                    if (numbers == null) {
                        at = null;
                        snapshots.requireLiving(snapshot);
                        return false;
                    }
                    group = read(numbers).entrySet().iterator();
                }
                at = group.next();
            } while (Arrays.compareUnsigned(at.getKey(), from) < 0 || Arrays.compareUnsigned(at.getKey(), to) >= 0);
            snapshots.requireLiving(snapshot);
            return true;
        }

        /** Returns the numbers of the next group; null at the end. */
        private byte @Nullable [] nextNumbers() {
            byte[] ofPresent = presentKey == null ? null : Arrays.copyOf(presentKey, kind.numberBytes());
            byte[] ofVersion = versionKey == null ? null : numbersOf(versionKey);
            if (ofVersion != null && end != null && Arrays.compareUnsigned(ofVersion, end) >= 0) {
                ofVersion = null;
            }
            if (ofPresent == null || ofVersion == null) {
                return ofPresent == null ? ofVersion : ofPresent;
            }
            return Arrays.compareUnsigned(ofPresent, ofVersion) <= 0 ? ofPresent : ofVersion;
        }

        private byte[] numbersOf(byte[] version) {
            return Arrays.copyOfRange(version, 1, 1 + kind.numberBytes());
        }

        /** Reads a group: its records by their keys in the snapshot. */
        private NavigableMap<byte[], byte[]> read(byte[] numbers) throws IOException {
            NavigableMap<byte[], byte[]> records = new TreeMap<>(Arrays::compareUnsigned);
            while (presentKey != null && Arrays.equals(numbers, Arrays.copyOf(presentKey, kind.numberBytes()))) {
                byte[] value = present.value();
                if (Births.of(value) <= snapshot) {
                    records.put(inSnapshot(presentKey), value);
                }
                presentKey = present.next() ? present.key() : null;
            }
            addVersions(numbers, records);
            return records;
        }

        private void addVersions(byte[] numbers, NavigableMap<byte[], byte[]> records) throws IOException {
            Set<byte[]> decided = new TreeSet<>(Arrays::compareUnsigned);
            int passed = 0;
            while (versionKey != null && Arrays.equals(numbers, numbersOf(versionKey))) {
                long death = Keys.longAt(versionKey, 1 + kind.numberBytes());
                if (death > snapshot) {
                    byte[] key = inSnapshot(VersionKeys.keyOf(kind, versionKey));
                    if (decided.add(key) && Births.of(versions.value()) <= snapshot) {
                        records.putIfAbsent(key, versions.value());
                    }
                }
                boolean isOver = death > snapshot && !kind.hasName();
                if (++passed >= MOST_PASSED && (death <= snapshot || isOver)) {
                    moveTo(VersionKeys.version(kind, numbers, isOver ? Long.MAX_VALUE : snapshot + 1));
                    passed = 0;
                } else {
                    versionKey = versions.next() ? versions.key() : null;
                }
            }
        }

        private void moveTo(byte[] key) throws IOException {
            versions.close();
            versions = versionsFrom(key);
            versionKey = versions.next() ? versions.key() : null;
        }

        private byte[] inSnapshot(byte[] plain) {
            return SnapshotIds.withId(plain, SnapshotIds.of(snapshot, Keys.longAt(plain, 0)));
        }

        @Override
        public byte[] key() {
            return entry().getKey();
        }

        @Override
        public byte[] value() {
            return entry().getValue();
        }

        private Map.Entry<byte[], byte[]> entry() {
            if (at == null) {
                throw new NoSuchElementException("the cursor is not at an entry");
            }
            return at;
        }

        @Override
        public void close() {
            present.close();
            versions.close();
        }
    }
}
