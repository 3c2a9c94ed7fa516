package org.opendedup.sar.metadata;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.StoredRecords;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.IntentRecord;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.NameHash;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaRecord;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.metadata.record.RecipeFormat;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.SystemRecords;

/** Makes records that contradict others, each whole by itself, in a database that is not in use. */
public final class MetadataDefects {
    private MetadataDefects() {}

    /** Changes the counts of a slot of the first container that has counts. */
    public static void addReferences(KeyValueStore database, int slot, int references, int continuations)
            throws IOException {
        byte[] key;
        byte[] value;
        try (Cursor cursor = database.scan(Family.COUNT, Keys.FIRST, Keys.END)) {
            if (!cursor.next()) {
                throw new AssertionError("no counts");
            }
            key = cursor.key();
            value = cursor.value();
        }
        long container = Keys.longAt(key, 0);
        CountRecord record = CountRecord.decode(container, value, CountRecord.NO_GENERATION);
        if (references != 0) {
            record.add(container, slot, references);
        }
        if (continuations != 0) {
            record.addContinuation(container, slot, continuations);
        }
        put(database, Family.COUNT, key, record.encode());
    }

    /** Puts counts of a container that no pack has: it has one chunk, to which something refers. */
    public static void putCounts(KeyValueStore database, long container) throws IOException {
        CountRecord record = CountRecord.empty(CountRecord.NO_GENERATION);
        record.setLength(0, 1_000);
        record.add(container, 0, 1);
        put(database, Family.COUNT, Keys.of(container), record.encode());
    }

    /** Puts a name, in place of another inode's if there is one. */
    public static void putName(KeyValueStore database, long directory, String name, long inode, int type)
            throws IOException {
        NameHash hash = SystemRecords.decodeNameHash(StoredRecords.system(database, SystemRecords.NAME_HASH));
        byte[] bytes = name.getBytes(UTF_8);
        put(database, Family.ENTRY, Keys.of(directory, hash.of(directory, bytes), bytes), Entry.encode(inode, type));
    }

    /** Makes a directory with a name, and does not count it anywhere. Returns its inode number. */
    public static long makeDirectory(KeyValueStore database, long parent, String name, long inode) throws IOException {
        putName(database, parent, name, inode, 0040000);
        Inode made =
                Inode.of(inode, 0040755, Inode.Times.ofCreation(1)).withLinks(2).withParent(parent);
        put(database, Family.INODE, Keys.of(inode), Inode.encode(made));
        byte[] above = Objects.requireNonNull(database.get(Family.INODE, Keys.of(parent)));
        Inode holder = Inode.decode(parent, above);
        put(database, Family.INODE, Keys.of(parent), Inode.encode(holder.withLinks(holder.links() + 1)));
        return inode;
    }

    /** Puts what a user, group or project uses. */
    public static void putQuota(KeyValueStore database, QuotaId id, long bytes, long files) throws IOException {
        put(
                database,
                Family.SYSTEM,
                id.key(),
                QuotaRecord.NONE.withAmounts(bytes, files).encode());
    }

    /** Returns a record of what a user, group or project uses with more bytes. */
    public static byte[] quotaWithMore(QuotaId id, byte[] value, long bytes) {
        try {
            QuotaRecord before = QuotaRecord.decode(id, value);
            return before.withAmounts(before.bytes() + bytes, before.files()).encode();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Puts a record of dead pages that cannot be decoded. */
    public static void putDamagedOrphan(KeyValueStore database, long inode) throws IOException {
        put(database, Family.ORPHAN, Keys.of(inode), new byte[] {1});
    }

    /** Puts a record of dead pages of an inode. */
    public static void putOrphan(KeyValueStore database, long inode, long fromPage) throws IOException {
        put(database, Family.ORPHAN, Keys.of(inode), Namespace.encodeOrphan(fromPage));
    }

    /**
     * Makes the last entry of a file's first recipe page refer to bytes that no chunk has.
     *
     * @param isPastTheEnd after the end of its chunk; otherwise in a slot that the container does not have
     */
    public static void changeLastReference(KeyValueStore database, long inode, boolean isPastTheEnd)
            throws IOException {
        byte[] key = Keys.of(inode, 0);
        byte[] value = Objects.requireNonNull(database.get(Family.RECIPE, key));
        RecipePage page = RecipeFormat.decode(key, value, 256 << 10);
        int last = page.count() - 1;
        RecipePage.Builder changed = new RecipePage.Builder();
        changed.addRange(page, 0, page.start(last));
        long chunk = isPastTheEnd ? page.chunkId(last) : ChunkId.of(ChunkId.container(page.chunkId(last)), 9_000);
        int offset = page.chunkOffset(last) + (isPastTheEnd ? 1 << 20 : 0);
        changed.add(chunk, offset, page.length(last), page.fingerprintPrefix(last));
        put(database, Family.RECIPE, key, RecipeFormat.encode(key, changed.build()));
    }

    /** Makes the record of an inode one that cannot be decoded. */
    public static void damageInode(KeyValueStore database, long inode) throws IOException {
        put(database, Family.INODE, Keys.of(inode), new byte[] {1});
    }

    /** Puts a record of an inode into the intent log. */
    public static void putIntent(KeyValueStore database, long inode) throws IOException {
        byte[] key = Keys.of(inode, 0);
        put(database, Family.INTENT, key, IntentRecord.encode(key, new IntentRecord(0, 0, 1, new byte[] {1})));
    }

    /** Changes a byte of a record of the intent log. */
    public static void damageIntent(KeyValueStore database, long inode, long number) throws IOException {
        byte[] key = Keys.of(inode, number);
        byte[] value = Objects.requireNonNull(database.get(Family.INTENT, key)).clone();
        value[value.length / 2] ^= 1;
        put(database, Family.INTENT, key, value);
    }

    /** Says of an inode that it lies on the fast tier. */
    public static void putRaw(KeyValueStore database, long inode) throws IOException {
        RawRecord record = RawRecord.whole(inode << 8, false, false);
        put(database, Family.RAW, Keys.of(inode), RawRecords.encode(inode, record));
    }

    /** Changes a byte of the record that says that an inode lies on the fast tier. */
    public static void damageRaw(KeyValueStore database, long inode) throws IOException {
        byte[] value =
                Objects.requireNonNull(database.get(Family.RAW, Keys.of(inode))).clone();
        value[value.length / 2] ^= 1;
        put(database, Family.RAW, Keys.of(inode), value);
    }

    public static void remove(KeyValueStore database, Family family, byte[] key) throws IOException {
        try (Batch batch = database.batch()) {
            batch.delete(family, key);
            batch.commit();
        }
    }

    public static void put(KeyValueStore database, Family family, byte[] key, byte[] value) throws IOException {
        try (Batch batch = database.batch()) {
            batch.put(family, key, value);
            batch.commit();
        }
    }
}
