package org.opendedup.sar.metadata.repair;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.RawRecords;
import org.opendedup.sar.metadata.counts.DamageRecords;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.db.StoredRecords;
import org.opendedup.sar.metadata.pending.Generation;
import org.opendedup.sar.metadata.quota.Recount;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.IntentRecord;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.NameHash;
import org.opendedup.sar.metadata.record.QuotaRecord;
import org.opendedup.sar.metadata.record.RawRecord;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.metadata.record.VersionKeys;
import org.opendedup.sar.metadata.record.VersionKeys.Kind;
import org.opendedup.sar.metadata.versions.Kinds;
import org.opendedup.sar.metadata.versions.Snapshots;
import org.opendedup.sar.metadata.versions.VersionKeeper;
import org.opendedup.sar.metadata.versions.VersionKeeper.Rule;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what a check found to be right into a database that is not in use. Never removes an inode, a recipe or a
 * chunk: what no name leads to gets a name in a folder ({@link LostAndFound}), and the old bytes of each record that is
 * replaced are kept in a quarantine file, which is durable before the change. Changes are written in batches, each of
 * which leaves the database repairable, so that a repair that was interrupted is repeated.
 *
 * <p>A change may make another one necessary: check and repair until {@link #changes} stays 0. For one thread.
 */
public class MetadataRepair implements Corrections {
    private static final Logger log = LoggerFactory.getLogger(MetadataRepair.class);

    private static final int BATCH_RECORDS = 1000;

    /** The folder that takes what was found. */
    private record Found(long directory, String name) {}

    final KeyValueStore database;
    final long nowNs;
    private final @Nullable Quarantine quarantine;
    final BackingFiles backingFiles;
    private final NameHash nameHash;
    private final Sentences done = new Sentences();
    /** Of new records. */
    private final long birth;
    /**
     * What snapshots keep of the records that are replaced. Nothing, because what is damaged is so in snapshots, too;
     * but in the middle of a rollback, files are wrong that snapshots have right.
     */
    private final Rule rule;

    private @Nullable MetadataRecords records;
    /** Changes that are not written yet; null for a record that is removed. */
    private final Map<Quarantine.Record, byte @Nullable []> pending = new LinkedHashMap<>();

    /** Whether a page of a recipe is damaged: then no count may become lower than it is. */
    private boolean missesReferences;

    private boolean areTotalsWrong;
    private long changes;

    /**
     * @param folder where the quarantine file is made
     * @param backingFiles for files whose records do not tell theirs any more
     * @param nowNs the present time, in nanoseconds since 1970
     */
    public MetadataRepair(KeyValueStore database, Directory folder, BackingFiles backingFiles, long nowNs)
            throws IOException {
        this(database, new Quarantine(database, folder), nowNs, backingFiles);
    }

    /** Makes a repair that keeps nothing of what it replaces, and whose changes are durable with a later commit. */
    MetadataRepair(KeyValueStore database, BackingFiles backingFiles, long nowNs) throws IOException {
        this(database, null, nowNs, backingFiles);
    }

    private MetadataRepair(
            KeyValueStore database, @Nullable Quarantine quarantine, long nowNs, BackingFiles backingFiles)
            throws IOException {
        this.database = database;
        this.quarantine = quarantine;
        this.backingFiles = backingFiles;
        this.nowNs = nowNs;
        Snapshots snapshots = Snapshots.open(database);
        birth = snapshots.birth();
        boolean isRolledBack = database.get(Family.SYSTEM, SystemRecords.ROLLBACK) != null;
        rule = isRolledBack ? Rule.of(snapshots) : Rule.NONE;
        nameHash = SystemRecords.decodeNameHash(StoredRecords.system(database, SystemRecords.NAME_HASH));
    }

    /** Returns what was done, a sentence for each change; the last one says how many are left out, if any are. */
    public List<String> done() {
        return done.list();
    }

    /** Returns the names of the quarantine files: one for each batch that replaced a record. */
    public List<String> quarantines() {
        return quarantine == null ? List.of() : quarantine.files();
    }

    MetadataRecords records() throws IOException {
        MetadataRecords open = records;
        if (open == null) {
            open = MetadataRecords.of(database);
            records = open;
        }
        return open;
    }

    /** Writes what is not written yet, and the totals; returns the number of corrections since the last call. */
    public long finish() throws IOException {
        flush();
        if (areTotalsWrong) {
            put(
                    Family.SYSTEM,
                    SystemRecords.TOTALS,
                    SystemRecords.encodeTotals(records().recount()));
            done("the volume's totals were counted again");
            for (Recount.Difference difference : records().recountQuotas()) {
                QuotaRecord corrected = difference.corrected();
                put(
                        Family.SYSTEM,
                        difference.id().key(),
                        corrected.equals(QuotaRecord.NONE) ? null : corrected.encode());
                done("what " + difference.id() + " uses was counted again"
                        + (difference.record() == null
                                ? "; its record was damaged, and limits that it had are lost"
                                : ""));
            }
            flush();
            DamageRecords.recount(database);
            areTotalsWrong = false;
        }
        long made = changes;
        changes = 0;
        return made;
    }

    void done(String what) {
        done.add(what);
        changes++;
    }

    byte @Nullable [] get(Family family, byte[] key) throws IOException {
        Quarantine.Record record = new Quarantine.Record(family, ByteBuffer.wrap(key));
        return pending.containsKey(record) ? pending.get(record) : database.get(family, key);
    }

    void put(Family family, byte[] key, byte @Nullable [] value) throws IOException {
        pending.put(
                new Quarantine.Record(family, ByteBuffer.wrap(key)), value == null ? null : born(family, key, value));
    }

    /**
     * Returns a record with the birth of the one that it replaces: snapshots that have that one have it, too. In the
     * middle of a rollback it is a new one.
     */
    private byte[] born(Family family, byte[] key, byte[] value) throws IOException {
        if (Kinds.of(family) == null) {
            return value;
        }
        byte[] before = rule.equals(Rule.NONE) ? get(family, key) : null;
        return Births.stamped(Births.body(value), before == null ? birth : Births.of(before));
    }

    /**
     * Puts a page of a recipe that each snapshot has that was made after the last version of it died, and whose file is
     * so long: the older ones have that version, or an earlier one. A snapshot in which there is no such file, or a
     * shorter one, does not get it: a rollback to that would leave it without a file, or behind its end.
     */
    final void putForLater(byte[] key, byte[] value) throws IOException {
        long born = firstWithPage(Keys.longAt(key, 0), Keys.longAt(key, Keys.LONG_BYTES));
        byte[] from = VersionKeys.version(Kind.RECIPE, key, 0);
        try (Cursor versions =
                database.scan(Family.VERSION, from, VersionKeys.version(Kind.RECIPE, key, Long.MAX_VALUE))) {
            while (versions.next()) {
                born = Math.max(born, VersionKeys.deathOf(Kind.RECIPE, versions.key()));
            }
        }
        pending.put(new Quarantine.Record(Family.RECIPE, ByteBuffer.wrap(key)), Births.stamped(value, born));
    }

    /** Returns the number from which on all snapshots have a file with the first byte of a page, by its records. */
    private long firstWithPage(long inode, long page) throws IOException {
        byte[] present = get(Family.INODE, Keys.of(inode));
        long first = present == null ? birth : Births.of(present);
        long firstLong = 0;
        byte[] from = VersionKeys.version(Kind.INODE, Keys.of(inode), 0);
        try (Cursor versions =
                database.scan(Family.VERSION, from, VersionKeys.version(Kind.INODE, Keys.of(inode), Long.MAX_VALUE))) {
            while (versions.next()) {
                first = Math.min(first, Births.of(versions.value()));
                Inode then = inodeIfSound(inode, versions.value());
                if (then != null && then.size() <= page * records().pageBytes()) {
                    firstLong = VersionKeys.deathOf(Kind.INODE, versions.key());
                }
            }
        }
        return Math.max(first, firstLong);
    }

    private static @Nullable Inode inodeIfSound(long id, byte[] value) throws IOException {
        try {
            return Inode.decode(id, value);
        } catch (CorruptionException e) {
            return null;
        }
    }

    void flushIfLarge() throws IOException {
        if (pending.size() >= BATCH_RECORDS) {
            flush();
        }
    }

    void flush() throws IOException {
        if (pending.isEmpty()) {
            return;
        }
        if (quarantine != null) {
            quarantine.keep(pending.keySet());
        }
        try (Batch batch = database.batch()) {
            keepVersions(batch);
            for (Map.Entry<Quarantine.Record, byte @Nullable []> change : pending.entrySet()) {
                byte[] key = change.getKey().key().array();
                byte[] value = change.getValue();
                if (value == null) {
                    batch.delete(change.getKey().family(), key);
                } else {
                    batch.put(change.getKey().family(), key, value);
                }
            }
            if (quarantine != null) {
                batch.commit();
            } else {
                batch.commitLater();
            }
        }
        pending.clear();
    }

    private void keepVersions(Batch batch) throws IOException {
        Map<Family, Map<byte[], byte[]>> replaced = new EnumMap<>(Family.class);
        pending.forEach((record, value) -> replaced.computeIfAbsent(
                        record.family(), family -> new TreeMap<>(Arrays::compareUnsigned))
                .put(record.key().array(), value == null ? Generation.DELETED : value));
        for (Map.Entry<Family, Map<byte[], byte[]>> changed : replaced.entrySet()) {
            VersionKeeper.keep(database, batch, rule, changed.getKey(), changed.getValue(), Map.of());
        }
    }

    /** What the version refers to is counted again in the next round. */
    @Override
    public void versionOfNoSnapshot(byte[] key, byte[] death) throws IOException {
        put(Family.VERSION, key, null);
        put(Family.DEATH, death, null);
        done("a version of a record that no snapshot has was removed");
        flushIfLarge();
    }

    @Override
    public void deaths() throws IOException {
        flush();
        try (RecordCursor<MetadataRecords.Version> versions = records().versions()) {
            while (versions.next()) {
                MetadataRecords.Version version = versions.value();
                if (version != null && get(Family.DEATH, version.deathKey()) == null) {
                    put(Family.DEATH, version.deathKey(), VersionKeeper.DEATH);
                    flushIfLarge();
                }
            }
        }
        records().forEachDeath(key -> {
            if (!records().hasVersionWith(key)) {
                put(Family.DEATH, key, null);
                flushIfLarge();
            }
        });
        done("the list of what is freed with snapshots was made anew");
    }

    @Override
    public void recipeDamaged() {
        missesReferences = true;
    }

    @Override
    public void counts(
            long container,
            @Nullable ContainerCounts found,
            int[] references,
            int[] continuations,
            int slots,
            @Nullable Lengths lengths)
            throws IOException {
        if (missesReferences && found == null && lengths == null) {
            // All that the damaged page refers to would count as garbage, and a backup of the page be of no use.
            return;
        }
        CountRecord record = CountRecord.empty(CountRecord.NO_GENERATION);
        for (int slot = 0; slot < slots; slot++) {
            int counted = references[slot];
            int continued = continuations[slot];
            if (missesReferences && found != null) {
                counted = Math.max(counted, found.count(slot));
                continued = Math.max(continued, found.continuations(slot));
            }
            int stored = lengths == null ? 0 : lengths.of(slot);
            if (missesReferences && found == null && stored > 0) {
                // The damaged page may refer to it. A repair after the page is back, or removed, counts what is right.
                counted = Math.max(counted, 1);
            }
            int length = stored > 0 || found == null ? stored : found.length(slot);
            boolean wasAlive = found == null ? stored > 0 : found.isAlive(slot);
            if (length > 0) {
                record.setLength(slot, length);
            }
            if (counted > 0 || wasAlive) {
                record.add(container, slot, counted - continued);
                if (continued > 0) {
                    record.addContinuation(container, slot, continued);
                }
            } else if (found != null && found.isTombstone(slot)) {
                record.tombstone(container, slot);
            }
            boolean isMissing = references[slot] > 0 && lengths != null && stored == 0;
            if (isMissing || found != null && found.isDamaged(slot)) {
                record.markDamaged(slot, slot + 1);
            }
        }
        byte[] key = Keys.of(container);
        if (Arrays.equals(record.encode(), get(Family.COUNT, key))) {
            return;
        }
        put(Family.COUNT, key, record.encode());
        done("the references to container " + container + " were counted again");
        areTotalsWrong = true;
        flushIfLarge();
    }

    /** Changes an inode. */
    @FunctionalInterface
    private interface Change {
        Inode of(Inode inode);
    }

    /** Returns an inode with the changes that are not written yet; null if there is none. */
    final @Nullable Inode inode(long id) throws IOException {
        byte[] value = get(Family.INODE, Keys.of(id));
        return value == null ? null : Inode.decode(id, value);
    }

    final void put(Inode inode) throws IOException {
        put(Family.INODE, Keys.of(inode.id()), Inode.encode(inode));
    }

    private void change(long id, Change change, String what) throws IOException {
        Inode before = inode(id);
        if (before != null) {
            put(change.of(before));
            done(what);
            flushIfLarge();
        }
    }

    @Override
    public void dataBytes(long inode, long bytes) throws IOException {
        areTotalsWrong = true;
        change(
                inode,
                before -> before.withBytes(before.size(), bytes),
                "inode " + inode + " now counts the " + bytes + " bytes of its recipe");
    }

    @Override
    public void size(long inode, long size) throws IOException {
        change(
                inode,
                before -> before.withBytes(Math.max(size, before.size()), before.dataBytes()),
                "inode " + inode + " now ends where its recipe does, at byte " + size);
    }

    @Override
    public void links(long inode, int links) throws IOException {
        change(inode, before -> before.withLinks(links), "inode " + inode + " now has " + links + " links");
    }

    @Override
    public void parent(long inode, long parent) throws IOException {
        change(
                inode,
                before -> before.withParent(parent),
                "directory " + inode + " now names directory " + parent + " as its parent");
    }

    @Override
    public void name(long directory, long hash, long inode) throws IOException {
        Inode found = inode(inode);
        try (RecordCursor<MetadataRecords.Name> names = records().names(directory, hash)) {
            while (names.next()) {
                MetadataRecords.Name name = names.value();
                if (name == null || name.inode() != inode) {
                    continue;
                }
                String text = "the name '" + EntryNames.text(name.name()) + "' in directory " + directory;
                if (found == null) {
                    put(Family.ENTRY, entryKey(directory, name.name()), null);
                    done(text + " led to inode " + inode + ", which does not exist; it was taken out");
                } else {
                    int type = found.type();
                    if (type != name.type()) {
                        put(Family.ENTRY, entryKey(directory, name.name()), Entry.encode(inode, type));
                        done(text + " now says the type of its inode");
                    }
                }
            }
        }
        flushIfLarge();
    }

    @Override
    public void extraNames(long holder, long directory, int keep) throws IOException {
        takeOut(holder, directory, keep);
        flushIfLarge();
    }

    /** The batch that takes the name out gives another one. */
    @Override
    public void circle(long holder, long directory) throws IOException {
        takeOut(holder, directory, 0);
        adopt(directory);
    }

    /** Takes the names in a directory that lead to another directory out, but for the first ones. */
    private void takeOut(long holder, long directory, int keep) throws IOException {
        int kept = 0;
        try (RecordCursor<MetadataRecords.Name> names = records().names(holder)) {
            while (names.next()) {
                MetadataRecords.Name name = names.value();
                if (name != null && name.inode() == directory && kept++ >= keep) {
                    put(Family.ENTRY, entryKey(holder, name.name()), null);
                    done("the name '" + EntryNames.text(name.name()) + "' in directory " + holder
                            + " was one too many for directory " + directory + "; it was taken out");
                }
            }
        }
    }

    @Override
    public void orphan(long inode, long fromPage) throws IOException {
        put(Family.ORPHAN, Keys.of(inode), fromPage < 0 ? null : Namespace.encodeOrphan(fromPage));
        done("what has to be freed of inode " + inode + " is recorded again");
        flushIfLarge();
    }

    private byte[] entryKey(long directory, byte[] name) {
        return Keys.of(directory, nameHash.of(directory, name), name);
    }

    @Override
    public void nameless(long inode) throws IOException {
        adopt(inode);
    }

    /**
     * Gives an inode a name in the folder for what was found.
     *
     * @return its path; empty if there is no such inode
     */
    String adopt(long id) throws IOException {
        Inode inode = inode(id);
        if (inode == null) {
            return "";
        }
        Found found = foundDirectory();
        String name = LostAndFound.nameOf(id);
        put(Family.ENTRY, LostAndFound.entryKey(nameHash, found.directory(), name), Entry.encode(id, inode.type()));
        Inode named = inode.isDirectory() ? inode.withParent(found.directory()) : inode.withLinks(1);
        if (inode.isDirectory() && inode.links() < 2) {
            named = named.withLinks(2);
        }
        put(named);
        String path = "/" + found.name() + "/" + name;
        done("inode " + id + ", to which no name led, is now " + path);
        if (inode.isDirectory()) {
            addLink(found.directory());
        }
        flushIfLarge();
        return path;
    }

    private void addLink(long directory) throws IOException {
        Inode inode = inode(directory);
        if (inode != null) {
            put(inode.withLinks(inode.links() + 1));
        }
    }

    /** Returns the folder in the root that takes what was found; makes it if it does not exist. */
    private Found foundDirectory() throws IOException {
        for (int number = 0; ; number++) {
            String name = LostAndFound.folderName(number);
            byte[] value = get(Family.ENTRY, LostAndFound.entryKey(nameHash, Inode.ROOT, name));
            if (value == null) {
                return new Found(makeFoundDirectory(name), name);
            }
            Entry entry = Entry.decode(Inode.ROOT, value);
            if (Modes.isDirectory(entry.type()) && get(Family.INODE, Keys.of(entry.inode())) != null) {
                return new Found(entry.inode(), name);
            }
        }
    }

    private long makeFoundDirectory(String name) throws IOException {
        byte[] next = get(Family.SYSTEM, SystemRecords.NEXT_INODE);
        long id = SystemRecords.decodeNumber(next == null ? SystemRecords.encodeNumber(Inode.ROOT + 1) : next);
        put(Family.SYSTEM, SystemRecords.NEXT_INODE, SystemRecords.encodeNumber(id + 1));
        put(LostAndFound.directory(id, Inode.ROOT, nowNs));
        put(Family.ENTRY, LostAndFound.entryKey(nameHash, Inode.ROOT, name), Entry.encode(id, Modes.DIRECTORY));
        addLink(Inode.ROOT);
        areTotalsWrong = true;
        done("the folder /" + name + " was made");
        return id;
    }

    /** The next check finds that no name leads to the directory. */
    @Override
    public void namesWithoutDirectory(long directory) throws IOException {
        make(
                LostAndFound.directory(directory, 0, nowNs),
                "directory " + directory + ", which had names and did not exist, was made again");
    }

    /** Writes an inode that did not exist. */
    void make(Inode inode, String what) throws IOException {
        put(inode);
        areTotalsWrong = true;
        done(what);
        flushIfLarge();
    }

    /** The next check finds that no name leads to the file. */
    @Override
    public void recipeWithoutInode(long inode) throws IOException {
        long size = 0;
        long bytes = 0;
        try (RecordCursor<MetadataRecords.Page> pages = records().pages(inode)) {
            while (pages.next()) {
                MetadataRecords.Page page = pages.value();
                RecipePage entries = page == null ? null : page.page();
                if (page != null && entries != null) {
                    size = page.number() * records().pageBytes() + entries.bytes();
                    bytes += entries.dataBytes();
                }
            }
        }
        make(
                LostAndFound.file(inode, Modes.REGULAR, nowNs).withBytes(size, bytes),
                "file " + inode + ", which had a recipe and did not exist, was made again with " + size + " bytes");
    }

    @Override
    public void intents(long inode, boolean isFile) throws IOException {
        List<IntentRecord> kept = new ArrayList<>();
        long next = 0;
        try (KeyValueStore.Cursor cursor = database.scan(Family.INTENT, Keys.of(inode), Keys.of(inode + 1))) {
            while (cursor.next()) {
                put(Family.INTENT, cursor.key(), null);
                IntentRecord record = isFile ? IntentRecord.decodeIfSound(cursor.key(), cursor.value()) : null;
                if (record == null || record.number() != next) {
                    // The lost one may have said that bytes of earlier ones are stored, with newer bytes perhaps.
                    kept.clear();
                }
                if (record != null) {
                    kept.add(record);
                    next = record.number() + 1;
                }
            }
        }
        for (int i = 0; i < kept.size(); i++) {
            byte[] key = Keys.of(inode, i);
            put(Family.INTENT, key, IntentRecord.encode(key, kept.get(i).withNumber(i)));
        }
        done("inode " + inode + " keeps the " + kept.size() + " records of the intent log after the last damaged one");
        flushIfLarge();
    }

    @Override
    public void raw(long inode) throws IOException {
        put(Family.RAW, Keys.of(inode), null);
        done("inode " + inode + " is not taken for a file on the fast tier any more");
        flushIfLarge();
    }

    /**
     * A record that is made anew says what is safe: nothing of the recipe may be used, because it may be that of an
     * earlier copy or a part of one, and the file may be migrated.
     */
    @Override
    public void rawDamaged(long inode) throws IOException {
        long number;
        try {
            number = backingFiles.last(inode);
        } catch (IOException e) {
            log.warn("inode {} is repaired when the fast tier can be used: {}", inode, e.getMessage());
            return;
        }
        if (number == BackingFiles.NONE) {
            raw(inode);
            return;
        }
        put(Family.RAW, Keys.of(inode), RawRecords.encode(inode, RawRecord.whole(number, false, false)));
        done("inode " + inode + " is again the file on the fast tier that has its number");
        flushIfLarge();
    }

    @Override
    public void totals() {
        areTotalsWrong = true;
    }
}
