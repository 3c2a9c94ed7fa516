package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.db.StoredRecords;
import org.opendedup.sar.metadata.quota.Recount;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.IntentRecord;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.metadata.record.NameHash;
import org.opendedup.sar.metadata.record.Orphan;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaRecord;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.metadata.record.RecipeFormat;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.ReplicaRecord;
import org.opendedup.sar.metadata.record.RollbackRecord;
import org.opendedup.sar.metadata.record.StoredCopies;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.metadata.record.Totals;
import org.opendedup.sar.metadata.record.VersionKeys;
import org.opendedup.sar.metadata.record.VersionKeys.Kind;
import org.opendedup.sar.metadata.versions.Snapshots;

/** The records of a volume's metadata one by one, damaged ones included: for checks. No change may run meanwhile. */
public final class MetadataRecords {
    /**
     * A name in a directory.
     *
     * @param name its bytes
     * @param hash the hash of them, by which it is found
     * @param inode inode number
     * @param type file type, as in {@code mode & S_IFMT}
     */
    public record Name(byte[] name, long hash, long inode, int type) {}

    /**
     * A page of a recipe.
     *
     * @param number its number in the file
     * @param page null if the record is damaged
     */
    public record Page(long number, @Nullable RecipePage page) {}

    /** Receives the counts of containers in ascending order of ids. */
    @FunctionalInterface
    public interface CountVisitor {
        /** @param counts null if the record is damaged */
        void visit(long container, @Nullable ContainerCounts counts) throws IOException;
    }

    private final KeyValueStore database;
    private final NameHash nameHash;
    private final int pageBytes;
    private final @Nullable Totals totals;

    private MetadataRecords(KeyValueStore database, NameHash nameHash, int pageBytes, @Nullable Totals totals) {
        this.database = database;
        this.nameHash = nameHash;
        this.pageBytes = pageBytes;
        this.totals = totals;
    }

    /**
     * Returns the records of the database of a volume of files.
     *
     * @throws UnsupportedFormatException if another program version created it
     */
    public static MetadataRecords of(KeyValueStore database) throws IOException {
        MetadataHeader header = SystemRecords.decodeHeader(StoredRecords.system(database, SystemRecords.HEADER));
        header.require(MetadataHeader.Contents.FILES);
        NameHash nameHash = SystemRecords.decodeNameHash(StoredRecords.system(database, SystemRecords.NAME_HASH));
        return new MetadataRecords(database, nameHash, header.pageBytes(), totalsOf(database));
    }

    /** Returns the totals that a database has; null if their record is damaged. */
    public static @Nullable Totals totalsOf(KeyValueStore database) throws IOException {
        try {
            return SystemRecords.decodeTotals(StoredRecords.system(database, SystemRecords.TOTALS));
        } catch (CorruptionException | UnsupportedFormatException e) {
            return null;
        }
    }

    /** Visits the counts in a database, in ascending order of containers. */
    public static void countsOf(KeyValueStore database, CountVisitor visitor) throws IOException {
        RecordCursor<ContainerCounts> records = new RecordCursor<>(
                database.scan(Family.COUNT, Keys.FIRST, Keys.END),
                Keys.LONG_BYTES,
                (key, value) -> CountRecord.decode(Keys.longAt(key, 0), value, CountRecord.NO_GENERATION));
        try (records) {
            while (records.next()) {
                visitor.visit(records.id(), records.value());
            }
        }
    }

    /** Returns the bytes of a file that one page describes at most. */
    public int pageBytes() {
        return pageBytes;
    }

    /** Returns the running totals; null if their record is damaged. */
    public @Nullable Totals totals() {
        return totals;
    }

    /** Returns what the totals must be, by all inodes and counts that can be decoded. */
    public Totals recount() throws IOException {
        long bytes = 0;
        long files = 0;
        try (RecordCursor<Inode> inodes = inodes()) {
            while (inodes.next()) {
                Inode inode = inodes.value();
                bytes += inode == null ? 0 : inode.dataBytes();
                files++;
            }
        }
        StoredCopies[] stored = {StoredCopies.NONE};
        forEachCounted(
                (container, found) -> stored[0] = found == null ? stored[0] : stored[0].plus(StoredCopies.of(found)));
        return new Totals(bytes, files, stored[0]);
    }

    /** Returns which records of what users, groups and projects use differ from all inodes that can be decoded. */
    public List<Recount.Difference> recountQuotas() throws IOException {
        Recount recount = new Recount();
        try (RecordCursor<Inode> inodes = inodes()) {
            while (inodes.next()) {
                Inode inode = inodes.value();
                if (inode != null) {
                    recount.add(inode);
                }
            }
        }
        return recount.differences(quotas());
    }

    /** Returns the records of what users, groups and projects use; a value is null if its record is damaged. */
    public Map<QuotaId, @Nullable QuotaRecord> quotas() throws IOException {
        Map<QuotaId, @Nullable QuotaRecord> quotas = new HashMap<>();
        try (KeyValueStore.Cursor cursor = database.scan(Family.SYSTEM, QuotaId.FIRST_KEY, QuotaId.END_KEY)) {
            while (cursor.next()) {
                QuotaId id = QuotaId.ofKey(cursor.key());
                try {
                    quotas.put(id, QuotaRecord.decode(id, cursor.value()));
                } catch (CorruptionException | UnsupportedFormatException e) {
                    quotas.put(id, null);
                }
            }
        }
        return quotas;
    }

    /** Visits the counts of all containers in ascending order of ids. */
    public void forEachCounted(CountVisitor visitor) throws IOException {
        countsOf(database, visitor);
    }

    /** Returns the inodes. */
    public RecordCursor<Inode> inodes() throws IOException {
        return new RecordCursor<>(
                database.scan(Family.INODE, Keys.FIRST, Keys.END),
                Keys.LONG_BYTES,
                (key, value) -> Inode.decode(Keys.longAt(key, 0), value));
    }

    /** Returns the names of all directories; the number of a record is that of its directory. */
    public RecordCursor<Name> names() throws IOException {
        return names(Keys.FIRST, Keys.END);
    }

    /** Returns the names of one directory. */
    public RecordCursor<Name> names(long directory) throws IOException {
        return names(Keys.of(directory), Keys.of(directory + 1));
    }

    /** Returns the names of one directory that have this hash: seldom more than one. */
    public RecordCursor<Name> names(long directory, long hash) throws IOException {
        return names(Keys.of(directory, hash), hash == -1 ? Keys.of(directory + 1) : Keys.of(directory, hash + 1));
    }

    private RecordCursor<Name> names(byte[] from, byte[] to) throws IOException {
        return new RecordCursor<>(database.scan(Family.ENTRY, from, to), Entry.NAME_OFFSET, (key, value) -> {
            Entry entry = Entry.decode(key, value, nameHash);
            return new Name(Entry.name(key), Keys.longAt(key, Keys.LONG_BYTES), entry.inode(), entry.type());
        });
    }

    /** Returns the pages of all recipes; the number of a record is that of its inode. No value is null. */
    public RecordCursor<Page> pages() throws IOException {
        return pages(Keys.FIRST, Keys.END);
    }

    /** Returns the pages of one recipe; no value is null. */
    public RecordCursor<Page> pages(long inode) throws IOException {
        return pages(Keys.of(inode), Keys.of(inode + 1));
    }

    private RecordCursor<Page> pages(byte[] from, byte[] to) throws IOException {
        return new RecordCursor<>(database.scan(Family.RECIPE, from, to), 2 * Keys.LONG_BYTES, (key, value) -> {
            long number = Keys.longAt(key, Keys.LONG_BYTES);
            return new Page(number, pageOf(key, value));
        });
    }

    /**
     * An earlier version of a record, which snapshots have.
     *
     * @param key of the version
     * @param numbers those at the beginning of the record's key
     * @param birth the first snapshot that has it
     * @param death the first one after it that does not
     * @param page for a page of a recipe: the page; null if its record is damaged
     * @param isDamaged whether the record cannot be decoded
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Version(
            Kind kind,
            byte[] key,
            byte[] numbers,
            long birth,
            long death,
            @Nullable RecipePage page,
            boolean isDamaged) {
        /** Returns the key of its death. */
        public byte[] deathKey() {
            return VersionKeys.death(death, birth, kind, numbers);
        }
    }

    /** Returns the versions that snapshots have, in the order of their keys. Those with an unknown key are null. */
    public RecordCursor<Version> versions() throws IOException {
        return new RecordCursor<>(
                database.scan(Family.VERSION, Keys.FIRST, Keys.END), Keys.LONG_BYTES, (key, value) -> {
                    Kind kind = VersionKeys.kindOf(key);
                    if (kind == null) {
                        throw new CorruptionException("metadata database, version", -1, "a kind of record", "another");
                    }
                    byte[] numbers = VersionKeys.numbers(kind, key);
                    RecipePage page = kind == Kind.RECIPE ? pageOf(numbers, value) : null;
                    boolean isDamaged = kind == Kind.RECIPE ? page == null : !isDecoded(kind, numbers, value);
                    long death = VersionKeys.deathOf(kind, key);
                    return new Version(kind, key, numbers, Births.of(value), death, page, isDamaged);
                });
    }

    private boolean isDecoded(Kind kind, byte[] numbers, byte[] value) {
        long inode = Keys.longAt(numbers, 0);
        try {
            switch (kind) {
                case INODE -> Inode.decode(inode, value);
                case ENTRY -> Entry.decode(inode, value);
                case XATTR -> Namespace.decodeAttribute(inode, value);
                case RECIPE -> RecipeFormat.decode(numbers, value, pageBytes);
            }
            return true;
        } catch (CorruptionException | UnsupportedFormatException e) {
            return false;
        }
    }

    private @Nullable RecipePage pageOf(byte[] numbers, byte[] value) {
        try {
            return RecipeFormat.decode(numbers, value, pageBytes);
        } catch (CorruptionException | UnsupportedFormatException e) {
            return null;
        }
    }

    /** Receives the keys of deaths; see {@link #forEachDeath}. */
    @FunctionalInterface
    public interface DeathVisitor {
        void visit(byte[] key) throws IOException;
    }

    /** Visits the keys of the deaths of all versions. */
    public void forEachDeath(DeathVisitor visitor) throws IOException {
        try (KeyValueStore.Cursor cursor = database.scan(Family.DEATH, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                visitor.visit(cursor.key());
            }
        }
    }

    /** Returns whether there is a version with this death. */
    public boolean hasVersionWith(byte[] deathKey) throws IOException {
        Kind kind = VersionKeys.kindOfDeath(deathKey);
        if (kind == null) {
            return false;
        }
        long death = Keys.longAt(deathKey, 0);
        byte[] numbers = VersionKeys.numbersOfDeath(deathKey);
        byte[] from = VersionKeys.version(kind, numbers, death);
        byte[] to = VersionKeys.version(kind, numbers, death + 1);
        try (KeyValueStore.Cursor cursor = database.scan(Family.VERSION, from, to)) {
            while (cursor.next()) {
                if (Births.of(cursor.value()) == Keys.longAt(deathKey, Keys.LONG_BYTES)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns the rollback that is not finished; null if there is none. */
    public @Nullable RollbackRecord rollback() throws IOException {
        byte[] value = database.get(Family.SYSTEM, SystemRecords.ROLLBACK);
        return value == null ? null : RollbackRecord.decode(value);
    }

    /** Returns what the volume receives; null if it is no replica. */
    public @Nullable ReplicaRecord replica() throws IOException {
        byte[] value = database.get(Family.SYSTEM, SystemRecords.REPLICA);
        return value == null ? null : ReplicaRecord.decode(value);
    }

    /** Returns the snapshots. */
    public Snapshots snapshots() throws IOException {
        return Snapshots.open(database);
    }

    /** Returns the intent log; the number of a record is that of its inode. */
    public RecordCursor<IntentRecord> intents() throws IOException {
        return IntentRecords.cursor(database.scan(Family.INTENT, Keys.FIRST, Keys.END));
    }

    /** Returns the records of raw files, by inode. */
    public RecordCursor<RawRecord> raws() throws IOException {
        return RawRecords.cursor(database.scan(Family.RAW, Keys.FIRST, Keys.END));
    }

    /** Returns the first dead pages of orphans, by inode. */
    public RecordCursor<Orphan> orphans() throws IOException {
        return new RecordCursor<>(
                database.scan(Family.ORPHAN, Keys.FIRST, Keys.END),
                Keys.LONG_BYTES,
                (key, value) -> Namespace.decodeOrphan(Keys.longAt(key, 0), value));
    }
}
